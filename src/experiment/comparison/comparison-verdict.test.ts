import { describe, expect, it } from 'vitest';
import type { GoodputTarget } from '../../simulator/cluster-config.js';
import { fakeSaturation } from '../../simulator/results/saturation/fake-saturation.fixture.js';
import type { ExperimentAxis } from '../experiment.js';
import { fakeExperiment, fakeRun, fakeSummary, fakeVariant } from '../fake-experiment.fixture.js';
import { compareRuns } from './comparison.js';

/** TTFT p99 of each variant in each seed. */
function bestOf(byName: Record<string, number[]>): string {
  const [first] = Object.keys(byName);
  const variants = Object.keys(byName).map((name) => fakeVariant(name, { against: name === first ? null : first! }));
  const seeds = Object.values(byName)[0]!.map((_, i) => i);
  const runs = seeds.flatMap((seed) =>
    Object.values(byName).map((values) => fakeSummary({ ttft_p99_ms: values[seed]! })),
  );
  return compareRuns(fakeExperiment(variants, { seeds }), runs).document.comparison.verdict;
}

type Step = number | 'saturated' | 'too-short';

/** TTFT p99 of each series along the axis, or that it is no steady state. */
function along(series: Record<string, Step[]>, goodputTargets: Record<string, GoodputTarget>, axis?: ExperimentAxis) {
  const steps = Object.entries(series).flatMap(([name, list]) =>
    list.map((step, i) => ({ name, step, x: 10 * (i + 1) })),
  );
  const variants = steps.map(({ name, x }) =>
    fakeVariant(`${name}, ${x}`, { ...fakeRun({ goodputTargets }), series: name, x }),
  );
  const runs = steps.map(({ step }) =>
    typeof step === 'number'
      ? fakeSummary({ ttft_p99_ms: step })
      : fakeSummary({ ttft_p99_ms: 1 }, { saturation: fakeSaturation({ state: step }) }),
  );
  const load = axis ?? { title: 'load', unit: 'requests/s' };
  return compareRuns(fakeExperiment(variants, { seeds: [1], axis: load }), runs).document.comparison.verdict;
}

describe('comparisonVerdict', () => {
  it('names the best variant and by how much it is', () => {
    expect(bestOf({ a: [100, 110, 120], b: [50, 55, 61], c: [200, 230, 240] })).toBe(
      'b has the best TTFT p99: 55.33 ms, against 110.0 ms with a (-49.7 %); c is worse.',
    );
  });

  it('says when the size of the gain is uncertain', () => {
    expect(bestOf({ a: [130, 400, 9000], b: [100, 110, 120] })).toBe(
      'b has the best TTFT p99: 110.0 ms, against 3,177 ms with a (better with every seed, size uncertain).',
    );
  });

  it('names the best of one run as such', () => {
    expect(bestOf({ a: [10], b: [11] })).toBe('a has the best TTFT p99: 10.00 ms, in one run.');
    expect(bestOf({ a: [11], b: [10] })).toBe(
      'b has the best TTFT p99: 10.00 ms, against 11.00 ms with a (-9.1 %, in one run).',
    );
  });

  it('names none where all is noise', () => {
    expect(bestOf({ a: [10, 11, 12], b: [11, 10, 12.5] })).toBe(
      'No variant is better than a in TTFT p99 beyond noise.',
    );
  });

  it.each<[Record<string, Step[]>, string]>([
    [{ a: [1, 2, 900], b: [1, 600, 900] }, 'a up to 20 requests/s; b up to 10 requests/s.'],
    [
      { a: [1, 2, 3], b: [600, 700, 800] },
      'a at all tried, to 30 requests/s; b at none from 10 requests/s to 30 requests/s.',
    ],
    [{ a: [1, 'saturated', 'saturated'] }, 'up to 10 requests/s.'],
    [{ a: [1, 'too-short', 900] }, 'at 10 requests/s, too short to tell at 20 requests/s.'],
    [{ a: [1, 2, 'too-short'] }, 'up to 20 requests/s, too short to tell at 30 requests/s.'],
  ])('says up to which load an SLO is kept: %j', (series, where) => {
    const verdict = `TTFT p99 within 500.0 ms is kept: ${where}`;
    expect(along(series, { '*': { ttftUs: 500_000 } })).toBe(verdict);
  });

  it('says from which size of the fleet on it is kept', () => {
    const axis = { title: 'num-instances', unit: '' };
    expect(along({ a: ['saturated', 9, 3] }, { '*': { ttftUs: 500_000 } }, axis)).toBe(
      'TTFT p99 within 500.0 ms is kept: from num-instances 20.',
    );
  });

  it('says how the measure changes along an axis whose steps are compared with the first', () => {
    const variants = ['a', 'b'].flatMap((series) =>
      [0, 100].map((x) => fakeVariant(`${series}, ${x}`, { series, x, against: x === 0 ? null : `${series}, 0` })),
    );
    const runs = [1, 1.1].flatMap((seed) => [10, 45, 10, 10].map((ms) => fakeSummary({ ttft_p99_ms: ms * seed })));
    const axis = { title: 'age of the signals', unit: 'ms' };
    expect(compareRuns(fakeExperiment(variants, { seeds: [1, 2], axis }), runs).document.comparison.verdict).toBe(
      'TTFT p99 at 100 ms against 0 ms: a x 4.5; b the same.',
    );
  });

  it('says up to which load the fleet keeps up, without an SLO', () => {
    expect(along({ a: [1, 'saturated'], b: [1, 2] }, {})).toBe(
      'The fleet keeps up with what arrives: a up to 10 requests/s; b at all tried, to 20 requests/s.',
    );
  });
});
