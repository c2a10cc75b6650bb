import { describe, expect, it } from 'vitest';
import { type Explanation, resetExplanation } from '../policy/explanation.js';
import { createFleetView, type FleetView } from '../policy/fleet-view.js';
import { DecisionTrace } from './decision-trace.js';

/** A fleet whose replicas have these effective loads. */
function fleetWith(...loads: number[]): FleetView {
  const view = createFleetView(loads.length);
  loads.forEach((load, i) => {
    view.inFlight[i] = load;
  });
  return view;
}

/** A host of which the trace needs no more. */
const hostOf = (view: FleetView) => ({ view, findFlip: () => null });

/** The trace's explanation as a host gives it to a policy. */
function fresh({ why }: DecisionTrace): Explanation {
  resetExplanation(why);
  return why;
}

function tracer(replicas: number, listed = 0) {
  const lines: string[] = [];
  const trace = new DecisionTrace(replicas, listed, (line) => lines.push(line));
  return { trace, lines, last: () => JSON.parse(lines.at(-1)!) };
}

const listedIds = (record: { candidates: { instance: string }[] }) => record.candidates.map(({ instance }) => instance);

describe('regret', () => {
  it('of a policy without scores is how much more loaded the chosen replica is than the best one', () => {
    const { trace, last } = tracer(3);
    fresh(trace);
    trace.picked(5, () => 'request_0', 1, hostOf(fleetWith(2, 6, 3)));
    expect(last()).toMatchObject({ t_us: 5, request_id: 'request_0', chosen: 'instance_1', regret: 4 });
    expect(last().candidates.map(({ score }: { score: number }) => score)).toEqual([-2, -3, -6]);
  });

  it('counts queued, running and in-flight requests alike', () => {
    const { trace, last } = tracer(2);
    const view = fleetWith(1, 0);
    view.queued[0] = 2;
    view.running[0] = 3;
    fresh(trace);
    trace.picked(0, () => '', 0, hostOf(view));
    expect(last().regret).toBe(6);
  });

  it("is measured by the policy's own scores when it has some", () => {
    const { trace, last } = tracer(2);
    const why = fresh(trace);
    why.scored = true;
    why.scores.set([0.25, 0.75]);
    trace.picked(0, () => '', 0, hostOf(fleetWith(0, 9)));
    expect(last().regret).toBe(0.5);
  });

  it('is zero for the best one', () => {
    const { trace, last } = tracer(2);
    fresh(trace);
    trace.picked(0, () => '', 1, hostOf(fleetWith(4, 0)));
    expect(last().regret).toBe(0);
  });

  it('does not compare with replicas that could not be chosen', () => {
    const { trace, last } = tracer(2);
    const view = fleetWith(0, 5);
    view.eligible[0] = 0;
    fresh(trace);
    trace.picked(0, () => '', 1, hostOf(view));
    expect(last()).toMatchObject({ regret: 0, candidates: [{ instance: 'instance_1' }] });
  });

  it('is zero when no replica was chosen', () => {
    const { trace, last } = tracer(1);
    const view = fleetWith(5);
    view.eligible[0] = 0;
    fresh(trace);
    trace.picked(0, () => '', -1, hostOf(view));
    expect(last()).toMatchObject({ chosen: null, regret: 0, candidates: [] });
  });
});

describe('candidates', () => {
  it('are listed from the best score down; equal ones by id as text', () => {
    const { trace, last } = tracer(12);
    fresh(trace);
    trace.picked(0, () => '', 0, hostOf(fleetWith(1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1)));
    expect(listedIds(last()).slice(0, 5)).toEqual([
      'instance_3',
      'instance_0',
      'instance_1',
      'instance_10',
      'instance_11',
    ]);
  });

  it('are limited to the best k, which changes no regret', () => {
    const { trace, last } = tracer(3, 1);
    fresh(trace);
    trace.picked(0, () => '', 0, hostOf(fleetWith(7, 2, 3)));
    expect([listedIds(last()), last().regret]).toEqual([['instance_1'], 5]);
  });

  it('are all listed when k is 0', () => {
    const { trace, last } = tracer(3, 0);
    fresh(trace);
    trace.picked(0, () => '', 0, hostOf(fleetWith(7, 2, 3)));
    expect(listedIds(last())).toHaveLength(3);
  });

  it('show what the router saw of them, and the parts of their scores', () => {
    const { trace, last } = tracer(1);
    const view = fleetWith(3);
    view.queued[0] = 1;
    view.running[0] = 2;
    view.kvUsed[0] = 0.5;
    view.freeBlocks[0] = 9;
    view.cacheHitRate[0] = 0.25;
    view.reportedAgeUs[0] = 40;
    const why = fresh(trace);
    why.scored = true;
    why.scores[0] = 0.9;
    why.terms.column('queue-depth', 1).set([0.9]);
    why.rule = 'highest weighted score';
    trace.picked(0, () => '', 0, hostOf(view));
    expect(last()).toMatchObject({
      rule: 'highest weighted score',
      candidates: [
        {
          instance: 'instance_0',
          score: 0.9,
          terms: { 'queue-depth': 0.9 },
          queued: 1,
          running: 2,
          in_flight: 3,
          kv_utilization: 0.5,
          free_kv_blocks: 9,
          cache_hit_rate: 0.25,
          signal_age_us: 40,
        },
      ],
    });
  });

  it('are reset with every pick', () => {
    const { trace, last } = tracer(2);
    const why = fresh(trace);
    why.scored = true;
    why.scores.set([1, 0]);
    why.terms.column('old', 2).set([1, 0]);
    trace.picked(0, () => '', 0, hostOf(fleetWith(0, 0)));
    fresh(trace);
    trace.picked(1, () => '', 0, hostOf(fleetWith(3, 4)));
    expect(last().candidates[0]).toMatchObject({ score: -3 });
    expect(last().candidates[0]).not.toHaveProperty('terms');
  });
});

describe('a refusal', () => {
  it('is a line with its reason', () => {
    const { trace, last } = tracer(1);
    trace.refused(9, () => 'request_4', 'bucket is empty');
    expect(last()).toEqual({ t_us: 9, request_id: 'request_4', admitted: false, reason: 'bucket is empty' });
  });
});

describe('the summary', () => {
  it('adds up decisions, targets and regrets', () => {
    const { trace } = tracer(3);
    const view = fleetWith(2, 6, 3);
    for (const chosen of [0, 1, 1, -1]) {
      trace.admitted();
      fresh(trace);
      trace.picked(0, () => '', chosen, hostOf(view));
    }
    const reasons = new Map([
      ['z', 1],
      ['a', 2],
    ]);
    const summary = trace.summary(reasons);
    expect(summary).toEqual({
      total: 7,
      admitted: 4,
      rejected: 3,
      reasons: { a: 2, z: 1 },
      targets: { instance_0: 1, instance_1: 2 },
      mean_regret: (0 + 4 + 4) / 3,
      max_regret: 4,
    });
    expect(Object.keys(summary.reasons)).toEqual(['a', 'z']);
  });

  it('of nothing has no regret', () => {
    expect(tracer(2).trace.summary(new Map())).toMatchObject({ total: 0, mean_regret: 0, max_regret: 0, targets: {} });
  });
});

describe('a trace without a reader', () => {
  it('makes no lines and no ids, but counts', () => {
    const trace = new DecisionTrace(2, 0, undefined);
    const noId = () => {
      throw new Error('made an id');
    };
    trace.refused(0, noId, 'no');
    fresh(trace);
    trace.picked(0, noId, 0, hostOf(fleetWith(4, 0)));
    expect(trace.summary(new Map())).toMatchObject({ targets: { instance_0: 1 }, max_regret: 4 });
  });
});
