import { describe, expect, it } from 'vitest';
import { compareWithRepeat, repeatabilityOf, USUAL_REPEATABILITY } from './repeatability.js';

const REPEAT = { mean: 0.01, median: 0.01, p90: 0.02, request: 0.05 };
const base = Float64Array.from({ length: 100 }, (_, i) => 1000 + 10 * i);
const scaled = (by: number) => base.map((us) => us * by);
const gradeOf = (sim: Float64Array) => compareWithRepeat(base, sim, REPEAT, 3);

describe('a prediction next to a repeat of the run', () => {
  it.each([
    [1, 'excellent'],
    [1.0199, 'excellent'],
    [1.0499, 'good'],
    [0.9001, 'fair'],
    [1.11, 'poor'],
  ])('that is %f times what was measured is %s', (by, grade) => {
    expect(gradeOf(scaled(by)).grade).toBe(grade);
  });

  it('is graded by its worst figure: a good mean does not hide a median that is far off', () => {
    // The lower half a fifth too fast, the upper half as much too slow in sum.
    const low = base.subarray(0, 60).reduce((sum, us) => sum + us, 0);
    const high = base.subarray(60).reduce((sum, us) => sum + us, 0);
    const sim = base.map((us, i) => (i < 60 ? us * 0.8 : us * (1 + (0.2 * low) / high)));
    const { error, grade, times } = gradeOf(sim);
    expect(error.mean).toBeCloseTo(0, 9);
    expect(error.median).toBeCloseTo(-0.2, 2);
    expect([grade, times! > 10]).toEqual(['poor', true]);
  });

  it('has signed errors of mean, median and p90, and the size of the median request', () => {
    const { error, times } = gradeOf(scaled(0.9));
    for (const figure of ['mean', 'median', 'p90'] as const) expect(error[figure]).toBeCloseTo(-0.1, 9);
    expect(error.request).toBeCloseTo(0.1, 9);
    expect(times).toBeCloseTo(10, 9);
  });

  it('is not graded for too few requests, or where nothing took any time', () => {
    expect(compareWithRepeat(base.subarray(0, 2), base.subarray(0, 2), REPEAT, 3).grade).toBe('too few');
    expect(compareWithRepeat(new Float64Array(5), new Float64Array(5), REPEAT, 3)).toMatchObject({
      ...{ times: null, grade: 'too few' },
    });
  });
});

describe('repeatability', () => {
  it('is what two measurements differ, whichever is larger', () => {
    for (const [a, b, by] of [
      [base, scaled(1.02), 0.02],
      [scaled(1.25), base, 0.2],
    ] as const) {
      for (const share of Object.values(repeatabilityOf(a, b))) expect(share).toBeCloseTo(by, 9);
    }
  });

  it('of single first tokens is far larger than that of their mean', () => {
    expect(USUAL_REPEATABILITY.ttft.request / USUAL_REPEATABILITY.ttft.mean).toBeGreaterThan(5);
  });
});
