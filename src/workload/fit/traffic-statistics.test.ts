import { expect, it } from 'vitest';
import { RequestTable } from '../request-table.js';
import { range, testTrace } from './block-trace.fixture.js';
import { reusableShare, trafficStatistics } from './traffic-statistics.js';

it('measures rate, lengths and reuse', () => {
  const { table } = testTrace(range(0, 101).map((i) => ({ input: 1000 + i, output: i })));
  expect(trafficStatistics(table, 50e6, 512)).toEqual({
    requests_per_s: 2.02,
    input_mean: 1050,
    input_p50: 1050,
    input_p90: 1090,
    input_p99: 1099,
    output_mean: 50,
    output_p50: 50,
    output_p90: 90,
    output_p99: 99,
    reusable_share: 0,
  });
});

it('counts the full blocks that an earlier prompt started with, in order of time', () => {
  const prompts = [
    { blocks: [1, 2, 3], atUs: 30 },
    { blocks: [1, 2], atUs: 10 },
    { blocks: [9, 2], atUs: 20 },
    { blocks: [1, 2, 3, 4], input: 1600, atUs: 40 },
  ];
  // 2 of 2 in the third to come, 3 of 4 in the last, whose fourth block is not full.
  expect(reusableShare(testTrace(prompts).table, 512)).toBe(5 / 11);
});

it('is 0 where there is nothing', () => {
  expect(reusableShare(new RequestTable(), 512)).toBe(0);
  expect(trafficStatistics(new RequestTable(), 1e6, 512).input_p99).toBe(0);
});
