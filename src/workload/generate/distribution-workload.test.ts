import { describe, expect, it } from 'vitest';
import { type RequestTable, ROW_FOLLOW_UP, requestId } from '../request-table.js';
import { type DistributionWorkload, generateWorkload } from './distribution-workload.js';
import { LENGTH_PRESETS } from './presets.js';

const SPEC: DistributionWorkload = {
  client: 'distribution',
  ...LENGTH_PRESETS.distribution!,
  numRequests: 100,
  rate: 10,
  concurrency: null,
  thinkTimeMs: 0,
  prefixTokens: 0,
  timeout: 300,
};

function lengthsOf(table: RequestTable, column: 'inputTokens' | 'outputTokens'): number[] {
  return [...table[column].subarray(0, table.count)];
}

describe('generateWorkload at a constant rate', () => {
  it('puts requests one gap apart, the first one gap after the start', () => {
    const { table, sessions } = generateWorkload({ ...SPEC, rate: 3 }, 42);
    expect(sessions).toBeUndefined();
    expect(table.count).toBe(100);
    expect([...table.arrivalUs.subarray(0, 3)]).toEqual([333_333, 666_666, 999_999]);
    expect([requestId(table, 0), requestId(table, 99)]).toEqual(['request_0', 'request_99']);
    expect(table.deadlineUs[0]).toBe(300_333_333);
    expect(table.clients.name(table.client[0]!)).toBe('distribution');
    expect(table.prefixGroup[0]).toBe(0);
  });

  it('never puts them closer than a microsecond', () => {
    const { table } = generateWorkload({ ...SPEC, rate: 5e6 }, 42);
    expect([...table.arrivalUs.subarray(0, 3)]).toEqual([1, 2, 3]);
  });

  it.each(Object.entries(LENGTH_PRESETS))('draws the lengths of %s', (client, preset) => {
    const { table } = generateWorkload({ ...SPEC, client, ...preset, numRequests: 20_000 }, 42);
    for (const [column, lengths] of [
      ['inputTokens', preset.prompt],
      ['outputTokens', preset.output],
    ] as const) {
      const drawn = lengthsOf(table, column);
      const mean = drawn.reduce((sum, length) => sum + length, 0) / drawn.length;
      expect(Math.min(...drawn)).toBeGreaterThanOrEqual(lengths.min);
      expect(Math.max(...drawn)).toBeLessThanOrEqual(lengths.max);
      expect(mean / lengths.mean).toBeCloseTo(1, 1);
      expect(new Set(drawn).size).toBeGreaterThan(100);
    }
  });

  it('draws input and output independently of each other', () => {
    const inputs = lengthsOf(generateWorkload(SPEC, 42).table, 'inputTokens');
    const fixed = { mean: 7, stdev: 0, min: 1, max: 10 };
    const { table } = generateWorkload({ ...SPEC, output: fixed }, 42);
    expect(lengthsOf(table, 'inputTokens')).toEqual(inputs);
    expect(lengthsOf(table, 'outputTokens')).toEqual(Array(100).fill(7));
  });

  it('is the same for the same seed and another for another', () => {
    const inputs = (seed: number) => lengthsOf(generateWorkload(SPEC, seed).table, 'inputTokens');
    expect(inputs(42)).toEqual(inputs(42));
    expect(inputs(42)).not.toEqual(inputs(43));
    expect(inputs(42).slice(0, 5)).toEqual([2, 2, 798, 447, 738]);
  });

  it('has constant lengths where the bounds leave no choice, and at least 1', () => {
    const { table } = generateWorkload(
      { ...SPEC, prompt: { mean: 9, stdev: 5, min: 9, max: 9 }, output: { mean: 0, stdev: 0, min: 0, max: 0 } },
      42,
    );
    expect(new Set(lengthsOf(table, 'inputTokens'))).toEqual(new Set([9]));
    expect(new Set(lengthsOf(table, 'outputTokens'))).toEqual(new Set([1]));
  });

  it('puts the shared prefix before every prompt', () => {
    const plain = generateWorkload(SPEC, 42).table;
    const { table } = generateWorkload({ ...SPEC, prefixTokens: 1000 }, 42);
    expect(lengthsOf(table, 'inputTokens')).toEqual(lengthsOf(plain, 'inputTokens').map((tokens) => tokens + 1000));
    expect(new Set(table.prefixGroup.subarray(0, 100))).toEqual(new Set([1]));
    expect(table.prefixTokens).toEqual([0, 1000]);
  });

  it.each([-1, 0])('sets no deadlines with a timeout of %d', (timeout) => {
    expect(generateWorkload({ ...SPEC, timeout }, 42).table.deadlineUs[0]).toBe(0);
  });
});

describe('generateWorkload in a closed loop', () => {
  const LOOP: DistributionWorkload = {
    ...SPEC,
    rate: null,
    concurrency: 4,
    thinkTimeMs: 10,
    numRequests: 6,
    timeout: 1,
  };

  it('starts every user, spread over one pause', () => {
    const { table } = generateWorkload(LOOP, 42);
    expect([...table.arrivalUs.subarray(0, table.count)]).toEqual([0, 2500, 5000, 7500]);
    expect(requestId(table, 3)).toBe('request_3');
    expect(table.sessions.name(table.session[3]!)).toBe('distribution/user_3');
    expect(table.round[3]).toBe(0);
  });

  it("creates a user's next request after a response or a loss, until there are enough", () => {
    const { table, sessions } = generateWorkload({ ...LOOP, prefixTokens: 32 }, 42);
    const next = sessions!.left(table, 2, true, 50_000, Number.POSITIVE_INFINITY);
    const again = sessions!.left(table, next, false, 90_000, Number.POSITIVE_INFINITY);
    expect([requestId(table, next), requestId(table, again)]).toEqual([
      'session_distribution/user_2_round_1_1',
      'session_distribution/user_2_round_2_2',
    ]);
    expect([table.arrivalUs[next], table.arrivalUs[again]]).toEqual([60_000, 100_000]);
    expect(table.deadlineUs[again]).toBe(1_100_000);
    expect(table.flags[again]).toBe(ROW_FOLLOW_UP);
    expect(table.prefixGroup[again]).toBe(table.prefixGroup[0]);
    expect(table.client[again]).toBe(table.client[0]);
    expect(table.inputTokens[again]).toBeGreaterThan(32);
    expect(sessions!.left(table, 0, true, 99_000, Number.POSITIVE_INFINITY)).toBe(-1);
    expect(table.count).toBe(6);
  });

  it('never sends again in the microsecond of a loss', () => {
    const { table, sessions } = generateWorkload({ ...LOOP, thinkTimeMs: 0 }, 42);
    const afterResponse = sessions!.left(table, 0, true, 500, 1e9);
    const afterLoss = sessions!.left(table, 1, false, 500, 1e9);
    expect([table.arrivalUs[afterResponse], table.arrivalUs[afterLoss]]).toEqual([500, 501]);
  });

  it('creates none after the horizon', () => {
    const { table, sessions } = generateWorkload(LOOP, 42);
    expect(sessions!.left(table, 0, true, 5, 10_004)).toBe(-1);
    expect(sessions!.left(table, 0, true, 5, 10_005)).toBe(4);
  });

  it('starts at most as many users as there are requests', () => {
    expect(generateWorkload({ ...LOOP, numRequests: 2 }, 42).table.count).toBe(2);
  });
});

describe('generateWorkload on bad input', () => {
  it.each<[Partial<DistributionWorkload>, string, string]>([
    [{ rate: 0 }, '--rate', 'not a rate'],
    [{ rate: -1 }, '--rate', 'not a rate'],
    [{ rate: Number.NaN }, '--rate', 'not a rate'],
    [{ rate: Number.POSITIVE_INFINITY }, '--rate', 'not a rate'],
    [{ rate: 1e-300 }, '--rate', 'take more than 1000000000 s'],
    [{ rate: 1e-9, numRequests: 2 }, '--rate', 'take more than 1000000000 s'],
    [{ numRequests: 0 }, '--num-requests', '0 is not a whole number in range'],
    [{ numRequests: 1.5 }, '--num-requests', '1.5 is not a whole number in range'],
    [{ concurrency: 4 }, '--concurrency', 'together with --rate'],
    [{ rate: null, concurrency: 0 }, '--concurrency', '0 is not a whole number in range'],
    [{ thinkTimeMs: -1 }, '--think-time-ms', 'not a pause'],
    [{ prefixTokens: -1 }, '--prefix-tokens', 'not a whole number in range'],
    [{ prefixTokens: 2 ** 31 - 1 }, '--prompt-tokens-max', 'not a whole number in range'],
    [{ timeout: Number.NaN }, '--timeout', 'not a time'],
    [{ prompt: { mean: 5, stdev: -1, min: 1, max: 9 } }, '--prompt-tokens-stdev', '-1 is not a number of tokens'],
    [{ prompt: { mean: 5, stdev: 1, min: 9, max: 1 } }, '--prompt-tokens-min', '9 is above --prompt-tokens-max 1'],
    [{ output: { mean: 50, stdev: 1, min: 1, max: 9 } }, '--output-tokens', 'the mean 50 is outside 1 to 9'],
    [{ output: { mean: 5, stdev: 1, min: 1, max: 1e12 } }, '--output-tokens-max', 'not a number of tokens'],
  ])('refuses %j', (change, place, problem) => {
    expect(() => generateWorkload({ ...SPEC, ...change }, 42)).toThrowError(
      expect.objectContaining({ code: 'WORKLOAD_FLAG_INVALID', place, problem: expect.stringContaining(problem) }),
    );
  });
});
