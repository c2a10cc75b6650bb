import { describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { createExplanation } from '../explanation.js';
import { createFleetView } from '../fleet-view.js';
import { CORRECTION } from '../latency-predictor.js';
import { policyOptions } from '../policy-options.js';
import { createRequestFeatures, type RequestFeatures } from '../request-features.js';
import { NO_HEADROOM, predictedLatency } from './predicted-latency.js';

const REPLICAS = 3;

interface Told {
  /** Milliseconds by replica; absent: not predicted. */
  ttft?: (number | null)[];
  itl?: number[];
  prompt?: number[];
  inFlight?: number[];
  request?: Partial<RequestFeatures>;
}

function decide(given: object, { inFlight = [], itl = [10, 10, 10], prompt = [0, 0, 0], request, ttft = [] }: Told) {
  const options = policyOptions(predictedLatency, given, 'test') as Parameters<typeof predictedLatency.create>[0];
  const picker = predictedLatency.create(options, { random: randomStream(1, 'r'), replicas: REPLICAS });
  const view = createFleetView(REPLICAS);
  view.inFlight.set(inFlight);
  const features = Object.assign(createRequestFeatures(REPLICAS), { inputTokens: 100 }, request);
  for (const [i, ms] of ttft.entries()) {
    if (ms === null) continue;
    features.predictions.ttftUs[i] = ms * 1000;
    features.predictions.itlUs[i] = itl[i]! * 1000;
    features.predictions.promptUs[i] = prompt[i]! * 1000;
  }
  const why = createExplanation(REPLICAS);
  const chosen = picker.pick(features, view, why);
  return { chosen, why, refusal: picker.refusal, features, view, picker };
}

describe('without a target', () => {
  it('takes the replica with the least predicted time', () => {
    const { chosen, why } = decide({ output_tokens: 0 }, { ttft: [300, 100, 200] });
    expect([chosen, why.rule]).toEqual([1, 'least predicted latency']);
    expect(Array.from(why.facts.get('predicted TTFT ms')!)).toEqual([300, 100, 200]);
    expect(Array.from(why.facts.get('predicted ITL ms')!)).toEqual([10, 10, 10]);
  });

  it('counts the time of as many further tokens as it is given', () => {
    const told = { ttft: [300, 100, 200], itl: [10, 20, 10] };
    expect(decide({ output_tokens: 5 }, told).chosen).toBe(1);
    expect(decide({ output_tokens: 50 }, told).chosen).toBe(2);
  });

  it('counts the delay to requests in flight by its weight', () => {
    const told = { ttft: [150, 100, 200], prompt: [50, 50, 50], inFlight: [0, 4, 4] };
    expect(decide({ others_weight: 0 }, told).chosen).toBe(1);
    expect(decide({ others_weight: 1 }, told).chosen).toBe(0);
  });

  it('says when a correction is at its limit or off', () => {
    const { features, picker, view } = decide({}, { ttft: [1, 2, 3] });
    features.predictions.correction.set([CORRECTION.limited, CORRECTION.off, CORRECTION.applied]);
    features.predictions.factor.set([4, 1, 1.5]);
    const why = createExplanation(REPLICAS);
    picker.pick(features, view, why);
    expect(why.rule).toBe(
      'least predicted latency; correction at its limit on 1 of 3 replicas; plain predictions on 1 of 3 replicas',
    );
    expect(Array.from(why.facts.get('correction')!)).toEqual([4, 1, 1.5]);
  });
});

describe('with a target', () => {
  const own = { sloTtftUs: 250_000 };

  it('takes the most headroom, or the least', () => {
    const told = { ttft: [300, 100, 200], request: own };
    const most = decide({}, told);
    expect([most.chosen, most.why.rule]).toEqual([1, 'most headroom']);
    const least = decide({ headroom: 'least' }, told);
    expect([least.chosen, least.why.rule]).toEqual([2, 'least headroom that meets the target']);
    expect(least.why.scores[0]).toBeCloseTo(-0.2, 9);
  });

  it('takes the least deficit when none meets it, packing or not', () => {
    for (const headroom of ['most', 'least']) {
      const { chosen, refusal, why } = decide({ headroom }, { ttft: [600, 300, 400], request: own });
      expect([chosen, refusal, why.rule]).toEqual([1, null, 'no replica meets the target: least deficit']);
    }
  });

  it('has to meet both targets', () => {
    const request = { sloTtftUs: 250_000, sloTpotUs: 15_000 };
    expect(decide({}, { ttft: [200, 100, 240], itl: [14, 30, 5], request }).chosen).toBe(0);
  });

  it('takes the targets of the class where the request has none of its own', () => {
    const slo = { gold: { ttft_ms: 150 }, standard: { tpot_ms: 9 } };
    const told = { ttft: [140, 100, 1], itl: [1, 1, 8], request: { sloClass: 'gold' } };
    expect(decide({ slo, headroom: 'least' }, told).chosen).toBe(0);
    expect(decide({ slo, headroom: 'least' }, { ...told, request: { sloClass: 'standard' } }).chosen).toBe(2);
    const both = { sloClass: 'gold', sloTtftUs: 120_000 };
    expect(decide({ slo, headroom: 'least' }, { ...told, request: both }).chosen).toBe(1);
    expect(decide({ slo }, { ...told, request: { sloClass: 'other' } }).why.rule).toBe('least predicted latency');
  });

  it('refuses sheddable requests that no replica can meet, if it may', () => {
    const told = { ttft: [600, 300, 400] };
    const sheddable = { ...told, request: { ...own, priority: -1 } };
    const refused = decide({ shed: true }, sheddable);
    expect([refused.chosen, refused.refusal, refused.why.rule]).toEqual([-1, NO_HEADROOM, NO_HEADROOM]);
    expect(decide({ shed: false }, sheddable).chosen).toBe(1);
    expect(decide({ shed: true }, { ...told, request: { ...own, priority: 3 } }).chosen).toBe(1);
    expect(decide({ shed: true }, { ...sheddable, ttft: [600, 200, 400] })).toMatchObject({ chosen: 1, refusal: null });
  });

  it.each([
    [{ slo: { gold: { ttft_ms: 0 } } }],
    [{ slo: { gold: { ttft_ms: 4e6 } } }],
    [{ slo: { gold: { e2e_ms: 5 } } }],
    [{ headroom: 'some' }],
    [{ output_tokens: -1 }],
  ])('refuses the options %j', (options) => {
    expect(() => decide(options, {})).toThrow();
  });
});

describe('without predictions of every candidate', () => {
  it("decides by the router's counts, and says so", () => {
    const rule = 'no latency profile: least prompt work times requests in flight';
    const { chosen, why } = decide({}, { ttft: [1, null, 3], inFlight: [2, 1, 3] });
    expect([chosen, why.rule]).toEqual([1, rule]);
    expect(decide({ shed: true }, { request: { sloTtftUs: 1, priority: -1 } }).chosen).toBe(0);
  });

  it('predicts again when those without a profile are not candidates', () => {
    const { features, picker, view } = decide({}, { ttft: [5, null, 3] });
    view.eligible[1] = 0;
    expect(picker.pick(features, view)).toBe(2);
  });
});
