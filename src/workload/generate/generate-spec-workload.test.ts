import { describe, expect, it } from 'vitest';
import { isSorted } from '../arrival-order.js';
import { type RequestTable, ROW_STREAMING, requestId } from '../request-table.js';
import type { ClientSpec, WorkloadSpec } from '../spec/workload-spec.js';
import { generateSpecWorkload } from './generate-spec-workload.js';
import { client, cohort, column, fixed, rowsFrom, rowsOf, specOf, spread } from './test-spec.fixture.js';

const made = (spec: WorkloadSpec, more: Partial<Parameters<typeof generateSpecWorkload>[1]> = {}): RequestTable =>
  generateSpecWorkload(spec, { seed: 42, ...more }).table;

const steady = { arrival: { process: 'constant' } } as const;

describe('generateSpecWorkload', () => {
  it('merges clients in order of time and numbers the requests', () => {
    const slow = client('slow', { rate_fraction: 1, ...steady });
    const fast = client('fast', { rate_fraction: 3, ...steady });
    const table = made(specOf([slow, fast], { aggregate_rate: 4, num_requests: 9 }));
    expect(isSorted(table)).toBe(true);
    expect(rowsOf(table).map((row) => requestId(table, row))).toEqual(rowsOf(table).map((row) => `request_${row}`));
    expect(column(rowsFrom(table, 'slow'), table.arrivalUs)).toEqual([1e6, 2e6]);
    expect(column(rowsFrom(table, 'fast'), table.arrivalUs)).toEqual([1, 2, 3, 4, 5, 6, 7].map((n) => n * 333_333));
  });

  it('sets the fields of a client on its requests', () => {
    const labelled = client('a', {
      tenant_id: 'shop',
      slo_class: 'critical',
      model: 'acme/one',
      slo_target_us: 5000,
      timeout: 7_000_000,
      streaming: true,
      prefix_group: 'system',
      network: { rtt_ms: 1.5, bandwidth_mbps: 80 },
      ...steady,
    });
    const table = made(specOf([labelled, client('b', { slo_class: 'batch', ...steady })]));
    const [row] = rowsFrom(table, 'a');
    expect(table.tenants.name(table.tenant[row!]!)).toBe('shop');
    expect(table.sloClasses.name(table.sloClass[row!]!)).toBe('critical');
    expect(table.models.name(table.model[row!]!)).toBe('acme/one');
    expect(table.sloTargetUs[row!]).toBe(5000);
    expect(table.deadlineUs[row!]).toBe(table.arrivalUs[row!]! + 7_000_000);
    expect(table.flags[row!]).toBe(ROW_STREAMING);
    expect(table.inputTokens[row!]).toBe(150);
    expect(table.prefixTokens[table.prefixGroup[row!]!]).toBe(50);
    expect(table.networks[table.client[row!]!]).toEqual({ rttUs: 1500, bandwidthMbps: 80 });
    const [plain] = rowsFrom(table, 'b');
    expect([table.deadlineUs[plain!], table.flags[plain!], table.prefixGroup[plain!]]).toEqual([0, 0, 0]);
    expect(table.networks[table.client[plain!]!]).toBeUndefined();
    expect(table.kinds).toBeNull();
  });

  it('is the same for the same seed and another for another', () => {
    const spec = specOf([client('a', { input_distribution: spread })]);
    const inputs = (seed: number) => column(rowsOf(made(spec, { seed })), made(spec, { seed }).inputTokens);
    expect(inputs(1)).toEqual(inputs(1));
    expect(inputs(1)).not.toEqual(inputs(2));
  });

  it('draws the same for a client with and without others, sessions included', () => {
    const mine: ClientSpec[] = [
      client('single', {
        input_distribution: spread,
        output_distribution: spread,
        arrival: { process: 'gamma', cv: 2 },
      }),
      client('open', {
        input_distribution: spread,
        output_distribution: spread,
        closed_loop: false,
        reasoning: {
          multi_turn: {
            max_rounds: 5,
            rounds_distribution: spread,
            think_time_us: 30_000,
            context_growth: 'accumulate',
          },
        },
      }),
      client('closed', { input_distribution: spread, reasoning: { multi_turn: { max_rounds: 3 } } }),
    ];
    const other = client('other', {
      input_distribution: spread,
      rate_fraction: 3,
      closed_loop: false,
      reasoning: { multi_turn: { max_rounds: 4 } },
    });
    const crowd = cohort('crowd', 40, { rate_fraction: 4, input_distribution: spread });
    const alone = made(specOf(mine, { aggregate_rate: 30, horizon: 20e6 }));
    const together = made(specOf([other, ...mine], { aggregate_rate: 100, horizon: 20e6, cohorts: [crowd] }));
    for (const { id } of mine) {
      const [a, b] = [alone, together].map((table) => {
        const rows = rowsFrom(table, id);
        return [table.arrivalUs, table.inputTokens, table.outputTokens, table.round].map((from) => column(rows, from));
      });
      expect(b, id).toEqual(a);
      expect(a![0]!.length).toBeGreaterThan(50);
    }
  });

  it('draws input and output from separate streams', () => {
    const inputs = (output: ClientSpec['output_distribution']) => {
      const table = made(
        specOf([client('a', { input_distribution: spread, ...(output ? { output_distribution: output } : {}) })]),
      );
      return column(rowsOf(table), table.inputTokens);
    };
    expect(inputs(spread)).toEqual(inputs(fixed(4)));
  });

  it.each([
    ['num_requests', { num_requests: 7 }, {}, 7],
    ['a number from outside', { num_requests: 7 }, { numRequests: 5 }, 5],
    ['the horizon, itself included', { horizon: 500_000 }, {}, 5],
    ['an earlier horizon from outside', { horizon: 500_000 }, { horizonUs: 250_000 }, 2],
    ['the earlier of two limits', { horizon: 500_000, num_requests: 3 }, {}, 3],
    ['a hundred when nothing else ends it', {}, {}, 100],
  ])('ends by %s', (_, limits, options, count) => {
    expect(made(specOf([client('a', steady)], limits), options).count).toBe(count);
  });

  it('puts timeouts from outside in place of those of the clients', () => {
    const spec = specOf([client('a', { timeout: 5, ...steady })], { num_requests: 1 });
    expect(
      [made(spec), made(spec, { timeoutUs: 9 }), made(spec, { timeoutUs: 0 })].map((t) => t.deadlineUs[0]),
    ).toEqual([100_005, 100_009, 0]);
  });

  it('is empty when no client is active before the horizon', () => {
    const late = { lifecycle: { windows: [{ start_us: 5e6, end_us: 6e6 }] } };
    expect(made(specOf([client('a', late)], { horizon: 1e6 })).count).toBe(0);
  });

  it('refuses to wait for longer than a clock can count', () => {
    const spec = specOf([client('a', steady)], { aggregate_rate: 1e-9, num_requests: 2 });
    expect(() => made(spec)).toThrow(
      "client 'a': its next request arrives after 1000000000 s, before there are enough",
    );
    expect(made({ ...spec, horizon: 1e15 }).count).toBe(1);
    const endless = specOf([client('a', steady)], { aggregate_rate: 1000, horizon: 1e12 });
    expect(() => made(endless)).toThrow(
      'horizon: about 1000000000 requests arrive before the horizon; give num_requests',
    );
    expect(made(endless, { numRequests: 3 }).count).toBe(3);
    const never = specOf([client('a', steady)], { aggregate_rate: 5e-324, num_requests: 1 });
    expect(() => made(never)).toThrow(expect.objectContaining({ code: 'WORKLOAD_IMPOSSIBLE' }));
  });
});

describe('cohorts', () => {
  it('share the rate among their members, each with its own name, stream and, if set, prefix', () => {
    const crowd = cohort('crowd', 20, { input_distribution: spread, prefix_group: 'p', prefix_sharing: 'per_member' });
    const table = made(specOf([], { cohorts: [crowd], aggregate_rate: 100, horizon: 100e6 }));
    expect(table.count / 10_000).toBeCloseTo(1, 1);
    expect(table.clients.size).toBe(21);
    expect(table.prefixGroups.size).toBe(21);
    for (let k = 0; k < 20; k++) {
      const rows = rowsFrom(table, `crowd/${k}`);
      expect(rows.length).toBeGreaterThan(400);
      expect(new Set(column(rows, table.prefixGroup)).size).toBe(1);
    }
    const firsts = [0, 1].map((k) => table.inputTokens[rowsFrom(table, `crowd/${k}`)[0]!]);
    expect(firsts[0]).not.toBe(firsts[1]);
  });

  it('share one prefix unless the specification says otherwise', () => {
    const table = made(specOf([], { cohorts: [cohort('crowd', 5, { prefix_group: 'p', prefix_length: 7 })] }));
    expect(table.prefixGroups.names()).toEqual(['', 'p']);
    expect(table.prefixTokens).toEqual([0, 7]);
  });

  it('follow a rhythm of 24 hours, day after day', () => {
    const hours = 3600e6;
    const crowd = cohort('crowd', 3, { ...steady, diurnal: { peak_hour: 12, peak_to_trough_ratio: 10 } });
    const table = made(specOf([], { cohorts: [crowd], aggregate_rate: 0.5, horizon: 48 * hours }));
    const count = (hour: number) =>
      rowsOf(table).filter((row) => Math.floor(table.arrivalUs[row]! / hours) === hour).length;
    expect(count(0)).toBeCloseTo(180, -1);
    expect(count(12)).toBeCloseTo(1800, -1);
    expect(count(36)).toBeCloseTo(1800, -1);
    expect(count(6)).toBeCloseTo(990, -2);
  });

  it('spike and drain', () => {
    const spike = cohort('spike', 4, { ...steady, rate_fraction: 1, spike: { start_time_us: 2e6, duration_us: 1e6 } });
    const drain = cohort('drain', 4, {
      ...steady,
      rate_fraction: 1,
      drain: { start_time_us: 4e6, ramp_duration_us: 10e6 },
    });
    const table = made(specOf([], { cohorts: [spike, drain], aggregate_rate: 80, horizon: 20e6 }));
    const spikes = column(rowsFrom(table, 'spike'), table.arrivalUs);
    expect(spikes.length).toBeCloseTo(40, -1);
    expect(spikes.every((at) => at >= 2e6 && at < 3e6)).toBe(true);
    const drains = column(rowsFrom(table, 'drain'), table.arrivalUs);
    const between = (from: number, to: number) => drains.filter((at) => at >= from && at < to).length;
    expect(between(0, 4e6)).toBeGreaterThan(between(4e6, 8e6));
    expect(between(4e6, 8e6)).toBeGreaterThan(2 * between(10e6, 14e6));
    expect(between(14e6, 20e6)).toBe(0);
  });
});

describe('windows', () => {
  const during = (...windows: NonNullable<ClientSpec['lifecycle']>['windows']) => ({ lifecycle: { windows } });

  it('without a rate only limit when arrivals pass', () => {
    const a = client('a', { ...steady, ...during({ start_us: 1e6, end_us: 1.5e6 }, { start_us: 3e6, end_us: 3.2e6 }) });
    const table = made(specOf([a]));
    expect(column(rowsOf(table), table.arrivalUs)).toEqual([1e6, 1.1e6, 1.2e6, 1.3e6, 1.4e6, 3e6, 3.1e6]);
  });

  it('with a rate are filled exactly: one request less than gaps', () => {
    const a = client('a', {
      ...steady,
      ...during({ start_us: 1e6, end_us: 2e6, trace_rate: 5 }, { start_us: 2e6, end_us: 3e6, trace_rate: 2 }),
    });
    const table = made(specOf([a], { aggregate_rate: 0 }));
    expect(column(rowsOf(table), table.arrivalUs)).toEqual([1.2e6, 1.4e6, 1.6e6, 1.8e6, 2.5e6]);
  });

  it('have their own distributions, and prefixes and deadlines like all other requests', () => {
    const window = {
      start_us: 0,
      end_us: 1e6,
      trace_rate: 8,
      input_distribution: fixed(7),
      output_distribution: fixed(3),
    };
    const a = client('a', {
      prefix_group: 'p',
      timeout: 50,
      ...during(window, { start_us: 1e6, end_us: 2e6, trace_rate: 8, arrival: { process: 'constant' } }),
    });
    const table = made(specOf([a, client('users', { concurrency: 1 })], { aggregate_rate: 0, num_requests: 15 }));
    const rows = rowsFrom(table, 'a');
    expect(rows).toHaveLength(14);
    expect(new Set(column(rows, table.inputTokens))).toEqual(new Set([57, 150]));
    expect(new Set(column(rows, table.outputTokens))).toEqual(new Set([3, 10]));
    expect(rows.every((row) => table.deadlineUs[row] === table.arrivalUs[row]! + 50)).toBe(true);
    expect(rows.every((row) => table.prefixGroup[row] === 1)).toBe(true);
    const second = rows.map((row) => table.arrivalUs[row]!).filter((at) => at >= 1e6);
    expect(second).toEqual([1.125e6, 1.25e6, 1.375e6, 1.5e6, 1.625e6, 1.75e6, 1.875e6]);
  });

  it('do not stop clients that have none', () => {
    const a = client('a', during({ start_us: 0, end_us: 1e6, trace_rate: 1 }));
    const table = made(specOf([a, client('b', steady)], { num_requests: 20 }));
    expect(rowsFrom(table, 'b').length).toBeGreaterThan(10);
  });

  it('of a cohort count its members together', () => {
    const crowd = cohort('crowd', 8, { spike: { start_time_us: 0, duration_us: 10e6, trace_rate: 2 } });
    const table = made(specOf([], { cohorts: [crowd], aggregate_rate: 0 }));
    expect(table.count).toBe(19);
    expect([0, 3, 7].map((k) => rowsFrom(table, `crowd/${k}`).length)).toEqual([3, 2, 2]);
  });

  it('hold at most what fits into memory', () => {
    const a = client('a', during({ start_us: 0, end_us: 1e12, trace_rate: 1000 }));
    expect(() => made(specOf([a], { aggregate_rate: 0 }))).toThrow(
      "client 'a': a window from 0 to 1000000000000 us holds",
    );
  });
});

describe('kinds of tokens', () => {
  it('make up the prompt', () => {
    const media = client('media', {
      ...steady,
      prefix_group: 'p',
      multimodal: {
        image_distribution: { type: 'gaussian', params: { mean: 500, std_dev: 100 } },
        image_count_distribution: { type: 'empirical', params: { 0: 0.5, 1: 0.25, 2: 0.25 } },
        audio_distribution: fixed(40),
        video_distribution: fixed(1000),
        video_count_distribution: fixed(0),
      },
    });
    const table = made(specOf([media, client('text', steady)], { num_requests: 200 }));
    const kinds = table.kinds!;
    for (const row of rowsFrom(table, 'media')) {
      expect(kinds.text[row]! + kinds.image[row]! + kinds.audio[row]! + kinds.video[row]!).toBe(table.inputTokens[row]);
      expect([kinds.text[row], kinds.audio[row], kinds.video[row]]).toEqual([150, 40, 0]);
    }
    const images = column(rowsFrom(table, 'media'), kinds.image);
    expect(images.filter((tokens) => tokens === 0).length).toBeGreaterThan(30);
    expect(Math.max(...images)).toBeGreaterThan(900);
    expect(column(rowsFrom(table, 'text'), kinds.text)).toEqual(rowsFrom(table, 'text').map(() => 0));
  });

  it('leave no prompt empty, and take the text of a prompt first from multimodal', () => {
    const { input_distribution: _none, ...bare } = client('bare', steady);
    const nothing = { image_distribution: fixed(9), image_count_distribution: fixed(0) };
    const spec = specOf([
      { ...bare, multimodal: nothing },
      client('both', { ...steady, multimodal: { text_distribution: fixed(3) } }),
    ]);
    const table = made(spec);
    expect(table.inputTokens[rowsFrom(table, 'bare')[0]!]).toBe(1);
    expect(table.inputTokens[rowsFrom(table, 'both')[0]!]).toBe(3);
  });

  it('set how much of a response is reasoning', () => {
    const table = made(
      specOf([
        client('a', {
          ...steady,
          reasoning: { reason_ratio_distribution: { type: 'gaussian', params: { mean: 70, std_dev: 30 } } },
        }),
      ]),
    );
    const ratios = column(rowsOf(table), table.kinds!.reasonRatio);
    expect(Math.max(...ratios)).toBe(1);
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(0);
    expect(new Set(ratios).size).toBeGreaterThan(20);
    expect(table.kinds!.text[0]).toBe(0);
  });
});

describe('a large workload', () => {
  it('follows its distributions: rate, shares, sorted rows', () => {
    const a = client('a', { rate_fraction: 1, arrival: { process: 'weibull', cv: 2 } });
    const crowd = cohort('crowd', 300, { rate_fraction: 3 });
    const table = made(specOf([a], { cohorts: [crowd], aggregate_rate: 1000, num_requests: 50_000 }));
    expect(table.count).toBe(50_000);
    expect(isSorted(table)).toBe(true);
    expect(table.arrivalUs[49_999]! / 50e6).toBeCloseTo(1, 1);
    expect(rowsFrom(table, 'a').length / 12_500).toBeCloseTo(1, 1);
  });
});
