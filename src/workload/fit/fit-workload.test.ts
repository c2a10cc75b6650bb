import { describe, expect, it } from 'vitest';
import { generateSpecWorkload } from '../generate/generate-spec-workload.js';
import { ROW_STREAMING } from '../request-table.js';
import { readWorkloadSpec } from '../spec/read-workload-spec.js';
import type { ClientSpec, WorkloadSpec } from '../spec/workload-spec.js';
import { writeWorkloadSpec } from '../spec/write-workload-spec.js';
import { synthAgenticCoder } from '../synth/agentic-coder.js';
import type { Trace } from '../trace.js';
import { range, testTrace } from './block-trace.fixture.js';
import { compareTraffic } from './compare-traffic.js';
import { fitWorkload } from './fit-workload.js';

const MINUTE_US = 60_000_000;

/** The trace that a specification generates. */
function generated(clients: ClientSpec[], rate: number, horizon: number, seed = 1): Trace {
  const spec: WorkloadSpec = { version: '2', clients, aggregate_rate: rate, horizon };
  const { table } = generateSpecWorkload(spec, { seed });
  return { ...testTrace([{}]), table, wantedUs: table.arrivalUs };
}

/** The fit, after making sure that its specification can be written and read. */
function fitOf(trace: Trace) {
  const fit = fitWorkload(trace);
  expect(readWorkloadSpec(writeWorkloadSpec(fit.spec), 'fit.yaml')).toEqual(fit.spec);
  return fit;
}

const outsideOf = (trace: Trace) =>
  compareTraffic(fitOf(trace), null)
    .statistics.filter(({ within }) => !within)
    .map(({ name, difference }) => `${name} ${difference}`);

const CHATS: ClientSpec = {
  id: 'chat',
  rate_fraction: 1,
  arrival: { process: 'poisson' },
  input_distribution: { type: 'lognormal', params: { mu: 6, sigma: 0.8 } },
  output_distribution: { type: 'lognormal', params: { mu: 5, sigma: 0.6 } },
  prefix_group: 'system',
  prefix_length: 1024,
  reasoning: {
    multi_turn: {
      max_rounds: 6,
      rounds_distribution: { type: 'empirical', params: { 1: 0.4, 2: 0.2, 3: 0.15, 4: 0.1, 5: 0.1, 6: 0.05 } },
      think_time_distribution: { type: 'lognormal', params: { mu: 16, sigma: 0.7 } },
      input_distribution: { type: 'gaussian', params: { mean: 120, std_dev: 30, min: 1, max: 400 } },
      context_growth: 'accumulate',
    },
  },
  closed_loop: false,
};

describe('fitWorkload finds the parts of a workload', () => {
  it('single requests of several clients', () => {
    const trace = generated(
      [
        {
          id: 'web',
          tenant_id: 'shop',
          slo_class: 'critical',
          rate_fraction: 3,
          arrival: { process: 'gamma', cv: 2 },
          input_distribution: { type: 'lognormal', params: { mu: 6.5, sigma: 0.9 } },
          output_distribution: { type: 'constant', params: { value: 64 } },
        },
        {
          id: 'night',
          slo_class: 'batch',
          model: 'm',
          rate_fraction: 1,
          arrival: { process: 'constant' },
          input_distribution: { type: 'gaussian', params: { mean: 4000, std_dev: 300, min: 1, max: 9000 } },
          output_distribution: { type: 'empirical', params: { 10: 0.5, 500: 0.5 } },
          timeout: 30_000_000,
        },
      ],
      20,
      10 * MINUTE_US,
    );
    const { spec } = fitOf(trace);
    expect(
      spec.clients!.map(({ id, tenant_id, slo_class, model, timeout }) => [id, tenant_id, slo_class, model, timeout]),
    ).toEqual([
      ['web', 'shop', 'critical', undefined, undefined],
      ['night', undefined, 'batch', 'm', 30_000_000],
    ]);
    const [web, night] = spec.clients as [ClientSpec, ClientSpec];
    expect(spec.aggregate_rate! / 20).toBeCloseTo(1, 1);
    expect(web.rate_fraction! / night.rate_fraction!).toBeCloseTo(3, 0);
    expect(web.arrival!.process).toBe('gamma');
    expect(web.arrival!.cv).toBeCloseTo(2, 0.7);
    expect(night.arrival).toEqual({ process: 'constant' });
    expect(web.input_distribution!.type).toBe('lognormal');
    expect(web.output_distribution).toEqual({ type: 'constant', params: { value: 64 } });
    expect(night.input_distribution!.type).toBe('gaussian');
    expect(night.input_distribution!.params!.mean! / 4000).toBeCloseTo(1, 2);
    expect(Object.keys(night.output_distribution!.params!)).toEqual(['10', '500']);
    expect(outsideOf(trace)).toEqual([]);
  });

  it('sessions with growing context, a shared prefix and pauses', () => {
    const trace = generated([CHATS], 4, 15 * MINUTE_US);
    const { spec } = fitOf(trace);
    expect(spec.clients!.map(({ id }) => id)).toEqual(['chat', 'chat/chats-2-turns-up', 'chat/chats-4-turns-up']);
    const [once, few, many] = spec.clients as [ClientSpec, ClientSpec, ClientSpec];
    expect(once.rate_fraction).toBeCloseTo(0.4, 1);
    expect(few.rate_fraction).toBeCloseTo(0.35, 1);
    expect(many.rate_fraction).toBeCloseTo(0.25, 1);
    for (const client of [once, few, many]) {
      expect([client.prefix_group, client.prefix_length]).toEqual(['system', 1024]);
      expect(client.input_distribution!.type).toBe('lognormal');
      expect(client.input_distribution!.params!.mu).toBeCloseTo(6, 0.7);
    }
    const chat = few.reasoning!.multi_turn!;
    expect(chat).toMatchObject({ max_rounds: 3, context_growth: 'accumulate' });
    expect(chat.rounds_distribution!.params!['2']).toBeCloseTo(0.57, 1);
    expect(chat.think_time_distribution!.params!.mu).toBeCloseTo(16, 0.7);
    expect(chat.input_distribution).toMatchObject({ type: 'gaussian' });
    expect(chat.input_distribution!.params!.mean).toBeCloseTo(120, -1);
    expect([few.closed_loop, few.timeout]).toEqual([false, 300_000_000]);
    expect(outsideOf(trace)).toEqual([]);
  });

  it('sessions whose turns share nothing', () => {
    const { context_growth: _, ...rest } = CHATS.reasoning!.multi_turn!;
    const trace = generated([{ ...CHATS, reasoning: { multi_turn: rest } }], 4, 15 * MINUTE_US);
    const { spec } = fitOf(trace);
    expect(spec.clients![1]!.reasoning!.multi_turn!.context_growth).toBeUndefined();
    expect(spec.clients![1]!.reasoning!.multi_turn!.input_distribution!.params!.mean).toBeCloseTo(120, -1);
    expect(outsideOf(trace)).toEqual([]);
  });
});

describe('fitWorkload on blocks', () => {
  const recorded = synthAgenticCoder({ requests: 3000, sessions: 640, durationS: 5000 });

  it('keeps the statistics of the synthetic agentic trace', () => {
    expect(outsideOf(synthAgenticCoder())).toEqual([]);
  });

  it('finds prefixes, and sessions without their ids', () => {
    const nameless = {
      ...recorded,
      table: Object.assign(Object.create(Object.getPrototypeOf(recorded.table)), recorded.table, {
        session: new Int32Array(3000),
      }),
    };
    const found = (trace: Trace) => {
      const clients = fitOf(trace).spec.clients!;
      const shared = clients.filter(({ rate_fraction = 0 }) => rate_fraction > 0.05);
      return {
        prefixes: shared.map(({ prefix_length }) => prefix_length),
        long: clients.filter(({ rate_fraction }) => rate_fraction === undefined).length,
      };
    };
    const [withSessions, without] = [found(recorded), found(nameless)];
    expect(withSessions.prefixes).toHaveLength(4);
    expect(without).toEqual(withSessions);
    expect(without.long).toBeGreaterThanOrEqual(32);
    expect(outsideOf(nameless)).toEqual([]);
  });
});

describe('fitWorkload at the edges', () => {
  it('begins where the trace begins', () => {
    const { spec, durationUs } = fitOf(testTrace(range(0, 11).map((i) => ({ atUs: 1.7e15 + i * 1e6 }))));
    expect([durationUs, spec.horizon]).toEqual([11e6, 11e6]);
    expect(spec.aggregate_rate).toBeCloseTo(1, 6);
  });

  it('puts the only session where it was', () => {
    const { spec } = fitOf(testTrace(range(0, 5).map((i) => ({ atUs: 100 + i * 1e6, session: 's', input: 50 }))));
    expect(spec.aggregate_rate).toBeUndefined();
    expect(spec.clients).toEqual([
      {
        id: 'requests/chat',
        input_distribution: { type: 'constant', params: { value: 50 } },
        output_distribution: { type: 'constant', params: { value: 10 } },
        reasoning: {
          multi_turn: {
            max_rounds: 5,
            think_time_distribution: { type: 'constant', params: { value: 999_990 } },
            input_distribution: { type: 'constant', params: { value: 50 } },
            single_session: true,
            start_us: 0,
          },
        },
        closed_loop: false,
        timeout: 0,
      },
    ]);
  });

  it('keeps the other settings of clients, and goodput targets', () => {
    const trace = testTrace([
      { client: 'a', sloClass: 'interactive' },
      { client: 'a', sloClass: 'interactive' },
      { client: 'b' },
    ]);
    const { table } = trace;
    table.flags.fill(ROW_STREAMING, 0, 2);
    table.sloTargetUs.fill(5000, 0, 2);
    table.deadlineUs.fill(9_000_000, 0, 2);
    table.networks[table.client[0]!] = { rttUs: 20_000, bandwidthMbps: 0 };
    table.networks[table.client[2]!] = { rttUs: 0, bandwidthMbps: 100 };
    trace.header.goodputTargets = { standard: { ttftUs: 200_000 }, batch: { itlUs: 1500, e2eUs: 1e6 } };
    const { spec } = fitOf(trace);
    expect(spec.clients![0]).toMatchObject({
      slo_class: 'standard',
      streaming: true,
      slo_target_us: 5000,
      timeout: 8_500_000,
      network: { rtt_ms: 20 },
    });
    expect(spec.clients![1]).toMatchObject({ slo_class: 'standard', network: { rtt_ms: 0, bandwidth_mbps: 100 } });
    expect(spec.clients![1]).not.toHaveProperty('streaming');
    expect(spec.goodput_slo_targets).toEqual({ standard: { ttft_ms: 200 }, batch: { itl_ms: 1.5, e2e_ms: 1000 } });
    trace.header.mode = 'real';
    expect(fitOf(trace).spec.clients![0]!.timeout).toBe(9_000_000);
  });

  it('leaves windows without requests where the trace has none', () => {
    const busy = range(0, 300).map((i) => ({ atUs: i * 1000 }));
    const trace = testTrace([...busy, ...busy.map(({ atUs }) => ({ atUs: atUs + 3e8 }))]);
    const [client] = fitOf(trace).spec.clients!;
    expect(client!.arrival).toEqual({ process: 'constant' });
    expect(client!.lifecycle!.windows).toEqual([
      { start_us: 0, end_us: 299_500 },
      { start_us: 299_999_500, end_us: 300_299_500 },
    ]);
    expect(outsideOf(trace)).toEqual([]);
  });

  it('handles a clock that ticks every three seconds', () => {
    const { reasoning: _, closed_loop: __, ...once } = CHATS;
    const trace = generated([once], 10, 15 * MINUTE_US);
    trace.table.arrivalUs = trace.table.arrivalUs.map((us) => Math.floor(us / 3e6) * 3e6);
    expect(fitOf(trace).spec.clients![0]!.arrival).toEqual({ process: 'poisson' });
    expect(outsideOf(trace)).toEqual([]);
  });

  it('reports what it leaves out', () => {
    const trace = testTrace([{}, {}]);
    expect(fitOf(trace).notes).toEqual([]);
    trace.table.ensureKinds().image[1] = 100;
    trace.table.ensureKinds().reasonRatio[0] = 0.5;
    expect(fitOf(trace).notes).toEqual([
      'images, audio and video are fitted as text of the same length',
      'reasoning is fitted as a part of the response',
    ]);
  });

  it('refuses a trace whose requests all arrive at once', () => {
    expect(() => fitWorkload(testTrace([{ atUs: 5 }, { atUs: 5 }]))).toThrowError(
      expect.objectContaining({ code: 'FIT_IMPOSSIBLE', place: 'test.jsonl:1 (arrival_time_us)' }),
    );
  });
});

describe('compareTraffic', () => {
  const fit = fitWorkload(generated([CHATS], 2, 5 * MINUTE_US));

  it('uses the given seed', () => {
    const { requests, seed, seeds, statistics } = compareTraffic(fit, 7);
    expect({ seed, seeds }).toEqual({ seed: 7, seeds: [7] });
    expect(requests).toBe(generateSpecWorkload(fit.spec, { seed: 7 }).table.count);
    for (const { deviation, difference, mean, recorded, regenerated } of statistics) {
      expect(difference).toBeCloseTo(regenerated / recorded - 1, 12);
      expect([mean, deviation]).toEqual([difference, 0]);
    }
  });

  it('tries several seeds otherwise, more for a smaller trace', () => {
    const worst = ({ statistics }: ReturnType<typeof compareTraffic>) =>
      Math.max(...statistics.map(({ difference }) => Math.abs(difference)));
    const best = compareTraffic(fit, null);
    expect(best.seeds).toEqual(range(42, 64));
    expect(worst(best)).toBeLessThanOrEqual(worst(compareTraffic(fit, 42)));
    expect(worst(best)).toBe(worst(compareTraffic(fit, best.seed)));
  });

  it('reports reuse where the trace has none as an infinite difference', () => {
    const single = fitWorkload(testTrace(range(0, 50).map((i) => ({ input: 3000 + i }))));
    const share = (of: typeof single) =>
      compareTraffic(of, 1).statistics.find(({ name }) => name === 'reusable_share')!;
    expect(share(single)).toMatchObject({ recorded: 0, regenerated: 0, difference: 0, within: true });
    single.spec.clients![0]!.prefix_group = 'p';
    single.spec.clients![0]!.prefix_length = 1024;
    expect(share(single)).toMatchObject({ difference: Number.POSITIVE_INFINITY, within: false });
  });
});
