import { describe, expect, it } from 'vitest';
import { fakeSaturation } from '../../simulator/results/saturation/fake-saturation.fixture.js';
import { runsOf, type Variant } from '../experiment.js';
import { fakeExperiment, fakeSummary, fakeVariant } from '../fake-experiment.fixture.js';
import type { MetricValues } from '../metrics.js';
import { compareRuns } from './comparison.js';

/** Compares `b` with `a`: a value of each for every seed. */
function compared(metrics: Partial<Record<keyof MetricValues, { a: (number | null)[]; b: (number | null)[] }>>) {
  const seeds = Object.values(metrics)[0]!.a.map((_, i) => i + 1);
  const experiment = fakeExperiment([fakeVariant('a'), fakeVariant('b', { against: 'a' })], { seeds });
  const valuesOf = (name: 'a' | 'b', seed: number) =>
    Object.fromEntries(Object.entries(metrics).map(([key, values]) => [key, values![name][seed]]));
  const runs = seeds.flatMap((_, seed) => (['a', 'b'] as const).map((name) => fakeSummary(valuesOf(name, seed))));
  return compareRuns(experiment, runs).document;
}

const differenceIn = (document: ReturnType<typeof compared>, key: string) =>
  document.differences.find(({ metric }) => metric === key);

describe('compareRuns', () => {
  it('sums up each measure over the seeds', () => {
    const { variants } = compared({ ttft_p99_ms: { a: [1, 2, 6], b: [4, 4, 4] } });
    expect(variants[0]!.metrics.ttft_p99_ms).toEqual({ mean: 3, min: 1, max: 6, by_seed: [1, 2, 6] });
  });

  it('takes the runs of a variant from among those of the others', () => {
    const variants = ['a', 'b', 'c'].map((name) => fakeVariant(name));
    const experiment = fakeExperiment(variants, { seeds: [7, 8] });
    expect(runsOf(experiment).map(({ config }) => config.seed)).toEqual([7, 7, 7, 8, 8, 8]);
    const runs = [1, 2, 3, 4, 5, 6].map((value) => fakeSummary({ ttft_p99_ms: value }));
    const { document } = compareRuns(experiment, runs);
    expect(document.variants.map(({ metrics }) => metrics.ttft_p99_ms!.by_seed)).toEqual([
      [1, 4],
      [2, 5],
      [3, 6],
    ]);
  });

  it.each([
    ['better', { a: [10, 20, 30], b: [9, 18, 26] }, 'ttft_p99_ms'],
    ['worse', { a: [10, 20, 30], b: [11, 22, 34] }, 'ttft_p99_ms'],
    // A 16-fold difference whose size varies: an interval of plain differences would include 0.
    ['better', { a: [800, 2700, 6079], b: [100, 150, 328] }, 'ttft_p99_ms'],
    ['likely-better', { a: [130, 400, 9000], b: [100, 110, 120] }, 'ttft_p99_ms'],
    ['likely-worse', { a: [100, 110, 120], b: [130, 400, 9000] }, 'ttft_p99_ms'],
    ['noise', { a: [130, 400], b: [100, 110] }, 'ttft_p99_ms'],
    ['better', { a: [10, 20, 30], b: [11, 21, 31] }, 'tokens_per_sec'],
    ['noise', { a: [10, 20, 30], b: [11, 19, 31] }, 'ttft_p99_ms'],
    ['same', { a: [10, 20, 30], b: [10, 20, 30] }, 'ttft_p99_ms'],
    ['once', { a: [10], b: [11] }, 'ttft_p99_ms'],
  ] as const)('calls a difference %s', (verdict, values, key) => {
    const document = compared({ [key]: { a: [...values.a], b: [...values.b] } });
    expect(differenceIn(document, key)).toMatchObject({ variant: 'b', against: 'a', verdict });
  });

  it('compares only what both have measured', () => {
    const document = compared({ goodput_rps: { a: [1, null], b: [1, 2] } });
    expect(document.variants[0]!.metrics.goodput_rps).toBeNull();
    expect(differenceIn(document, 'goodput_rps')).toBeUndefined();
  });

  it('covers the tail, the throughput, and what only some experiments have', () => {
    const keys = (document: ReturnType<typeof compared>) => document.comparison.headline.map(({ key }) => key);
    expect(keys(compared({ ttft_p99_ms: { a: [1], b: [1] } }))).toEqual([
      ...['ttft_p50_ms', 'ttft_mean_ms', 'ttft_p99_ms', 'tokens_per_sec'],
    ]);
    expect(keys(compared({ prompt_cache_hit_rate: { a: [0], b: [0.1] }, fitness: { a: [1], b: [1] } }))).toEqual([
      'ttft_p50_ms',
      'ttft_mean_ms',
      'ttft_p99_ms',
      'tokens_per_sec',
      'prompt_cache_hit_rate',
      'fitness',
    ]);
  });

  it('covers every class where there are several and both variants have it', () => {
    const critical = { a: [5, 6], b: [1, 1.2] };
    const { comparison, differences } = compared({
      'ttft_p99_ms/critical': critical,
      'ttft_p99_ms/batch': { a: [5, 6], b: [7, null] },
    });
    expect(comparison.headline.map(({ title }) => title)).toEqual([
      ...['TTFT p50', 'TTFT mean', 'TTFT p99', 'TTFT p99 of batch', 'TTFT p99 of critical', 'throughput'],
    ]);
    expect(differences.slice(-1)).toMatchObject([
      { metric: 'ttft_p99_ms/critical', difference: -4.4, verdict: 'better' },
    ]);
  });

  it('prints one sentence about variants with equal results', () => {
    expect(compared({ ttft_p99_ms: { a: [1, 2], b: [1, 2] } }).findings).toEqual(['b: the same as a in every run.']);
  });

  it('leaves out metrics that do not differ where others do', () => {
    const { findings } = compared({ ttft_p99_ms: { a: [3, 6], b: [5, 10] }, tokens_per_sec: { a: [5, 5], b: [5, 5] } });
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatch(/^b: TTFT p99 is 66\.7 % higher than with a/);
  });

  it('keeps the configuration without a seed, and the mean number of requests of each instance', () => {
    const experiment = fakeExperiment([fakeVariant('a')], { seeds: [1, 2] });
    const counts = [
      [4, 6],
      [6, 8],
    ];
    const runs = counts.map((byInstance) => fakeSummary({}, { targets: { least: 0, most: 0, byInstance } }));
    const [variant] = compareRuns(experiment, runs).document.variants;
    expect(variant!.config).not.toHaveProperty('seed');
    expect(variant!.config).toMatchObject({ instances: 2, workload: { kind: 'spec' } });
    expect(variant!.targets).toEqual([5, 7]);
  });

  it('lists no replicas of a fleet that is too large', () => {
    const runs = [fakeSummary({}, { targets: { least: 1, most: 2, byInstance: null } })];
    expect(
      compareRuns(fakeExperiment([fakeVariant('a')], { seeds: [1] }), runs).document.variants[0]!.targets,
    ).toBeNull();
  });

  it('draws mean latencies and the load of the first seed; runs without any are left out', () => {
    const load = (value: number) => ({ stepUs: 1, kind: 'instances' as const, rows: [[value]] });
    const runs = [
      fakeSummary({}, { ttftMs: [1, 3], load: load(1) }),
      fakeSummary({}, { ttftMs: [3, 5], load: load(2) }),
      fakeSummary({}, { ttftMs: [], load: load(3) }),
    ];
    const { curves } = compareRuns(fakeExperiment([fakeVariant('a')]), runs);
    expect(curves[0]).toMatchObject({ ttftMs: [2, 4], load: load(1) });
  });

  it('names no confidence where each variant ran once', () => {
    expect(compared({ ttft_p99_ms: { a: [1], b: [2] } }).comparison.intervals).not.toContain('95 %');
    expect(compared({ ttft_p99_ms: { a: [1, 2], b: [2, 3] } }).comparison.intervals).toContain('95 %');
  });

  it('notes variants that are saturated, and those that are too short to tell', () => {
    const names = ['a', 'b', 'c'];
    const experiment = fakeExperiment(
      names.map((name) => fakeVariant(name)),
      { seeds: [1] },
    );
    const verdict = 'saturated: 9.0 requests/s arrive and the fleet keeps 4.0';
    const { document } = compareRuns(experiment, [
      fakeSummary(),
      fakeSummary({}, { saturation: fakeSaturation({ state: 'saturated', verdict, kept_rps: 4 }) }),
      fakeSummary({}, { saturation: fakeSaturation({ state: 'too-short', enough_requests: 700 }) }),
    ]);
    expect(document.variants.map(({ saturation }) => [saturation.saturated, saturation.kept_rps])).toEqual([
      [0, null],
      [1, 4],
      [0, null],
    ]);
    expect(document.comparison.notes).toEqual([
      'b is saturated: 9.0 requests/s arrive and the fleet keeps 4.0. Latencies of a saturated fleet grow with the length of the run.',
      'Runs are too short to tell whether the fleet keeps up (c): requests in flight still grew when the last one arrived. Give --num-requests 700 or more.',
    ]);
  });

  it('compares nothing with a variant that does not exist', () => {
    const lost: Variant = fakeVariant('b', { against: 'gone' });
    expect(compareRuns(fakeExperiment([lost], { seeds: [1] }), [fakeSummary()]).document.differences).toEqual([]);
  });
});
