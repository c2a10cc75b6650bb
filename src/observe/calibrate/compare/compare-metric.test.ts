import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareMetric } from './compare-metric.js';

const compare = (real: readonly number[], sim: readonly number[]) =>
  compareMetric(Float64Array.from(real), Float64Array.from(sim));

describe('compareMetric', () => {
  it('agrees with what is computed by hand', () => {
    // Errors -10, +20, 0, +40 of 100, 200, 300, 400.
    const { count, request_level, workload_level } = compare([100, 200, 300, 400], [90, 220, 300, 440]);
    expect(count).toBe(4);
    expect(request_level).toEqual({
      mape: expect.closeTo((0.1 + 0.1 + 0 + 0.1) / 4, 12),
      // 4 * 319,000 - 1000 * 1050 over the root of (4 * 300,000 - 1000²) (4 * 340,100 - 1050²).
      pearson_r: expect.closeTo(226_000 / Math.sqrt(200_000 * 257_900), 12),
      bias_direction: 'over-predict',
      quality: 'excellent',
    });
    expect(workload_level).toEqual({
      ...{ real_mean: 250, sim_mean: 262.5, mean_error: 12.5, mean_percent_error: 0.05 },
      ...{ real_median: 250, sim_median: 260, median_error: 10, median_percent_error: 0.04 },
      ...{ real_p50: 250, sim_p50: 260, p50_error: 10, p50_percent_error: 0.04 },
      ...{ real_p90: expect.closeTo(370, 9), sim_p90: expect.closeTo(398, 9) },
      ...{ p90_error: expect.closeTo(28, 9), p90_percent_error: expect.closeTo(28 / 370, 9) },
      ...{ real_p95: expect.closeTo(385, 9), sim_p95: expect.closeTo(419, 9) },
      ...{ p95_error: expect.closeTo(34, 9), p95_percent_error: expect.closeTo(34 / 385, 9) },
      ...{ real_p99: expect.closeTo(397, 9), sim_p99: expect.closeTo(435.8, 9) },
      ...{ p99_error: expect.closeTo(38.8, 9), p99_percent_error: expect.closeTo(38.8 / 397, 9) },
    });
  });

  it('distinguishes the size of an error from its sign', () => {
    const { request_level, workload_level } = compare([100, 100, 100], [50, 50, 50]);
    expect(workload_level).toMatchObject({ mean_error: -50, mean_percent_error: 0.5 });
    expect(request_level).toEqual({ mape: 0.5, pearson_r: 0, bias_direction: 'under-predict', quality: 'poor' });
    expect(compare([100, 300], [200, 200]).request_level.bias_direction).toBe('neutral');
  });

  it('leaves out of the mean what took no time', () => {
    const { request_level, workload_level } = compare([0, 100, 200], [50, 110, 180]);
    expect(request_level.mape).toBeCloseTo(0.1, 12);
    expect(workload_level.real_mean).toBe(100);
    const nothing = compare([0, 0, 0], [1, 2, 3]);
    expect(nothing.request_level).toMatchObject({ mape: null, quality: 'too few' });
    expect(nothing.workload_level).toMatchObject({ mean_error: 2, mean_percent_error: null });
  });

  // Both lists rise by equal steps, so that r is 1 unless a fourth pair breaks it.
  it.each([
    ['excellent', 0.0999],
    ['good', 0.1],
    ['good', 0.1999],
    ['fair', 0.2],
    ['fair', 0.3499],
    ['poor', 0.35],
  ])('grades %s at an error of %d', (grade, error) => {
    const real = [1000, 2000, 3000, 4000];
    const { request_level } = compare(
      real,
      real.map((us) => us * (1 + error)),
    );
    // The limit is exclusive, even with rounding in the mean.
    expect([request_level.mape! < error + 1e-9, request_level.quality]).toEqual([true, grade]);
  });

  it('grades by the correlation, too', () => {
    const near = (r: number) => {
      // Two series of mean 1000 with correlation r and deviations far below the limits of the error.
      const [x, y] = [[1, -1, 1, -1].map((v) => v * 10), [1, 1, -1, -1].map((v) => v * 10)];
      const sim = x.map((v, i) => 1000 + r * v + Math.sqrt(1 - r * r) * y[i]!);
      const { request_level } = compare(
        x.map((v) => 1000 + v),
        sim,
      );
      expect(request_level.pearson_r).toBeCloseTo(r, 6);
      return request_level.quality;
    };
    expect([0.96, 0.94, 0.86, 0.84, 0.71, 0.69, -1].map(near)).toEqual([
      ...['excellent', 'good', 'good', 'fair', 'fair', 'poor', 'poor'],
    ]);
  });

  it('judges nothing by two requests', () => {
    expect(compare([100, 200], [100, 200]).request_level).toEqual({
      ...{ mape: 0, pearson_r: 0, bias_direction: 'neutral', quality: 'too few' },
    });
  });

  it('agrees with a plain reference', () => {
    const time = fc.integer({ min: 0, max: 100_000_000 });
    fc.assert(
      fc.property(fc.array(fc.tuple(time, time), { minLength: 1, maxLength: 60 }), (pairs) => {
        const real = pairs.map(([a]) => a);
        const sim = pairs.map(([, b]) => b);
        const { count, request_level, workload_level: levels } = compare(real, sim);
        expect(count).toBe(pairs.length);
        const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
        const counted = pairs.filter(([a]) => a !== 0).map(([a, b]) => Math.abs(a - b) / a);
        if (counted.length === 0) expect(request_level.mape).toBeNull();
        else expect(request_level.mape! / (mean(counted) || 1)).toBeCloseTo(mean(counted) === 0 ? 0 : 1, 9);
        expect(levels.real_mean).toBeCloseTo(mean(real), 4);
        expect(levels.mean_error).toBeCloseTo(mean(sim) - mean(real), 4);
        for (const p of [50, 90, 95, 99] as const) {
          const sorted = [...sim].sort((a, b) => a - b);
          const rank = ((sorted.length - 1) * p) / 100;
          const [low, high] = [sorted[Math.floor(rank)]!, sorted[Math.ceil(rank)]!];
          expect(levels[`sim_p${p}`]).toBeCloseTo(low + (high - low) * (rank - Math.floor(rank)), 4);
        }
        const centred = (values: number[]) => values.map((value) => value - mean(values));
        const [dx, dy] = [centred(real), centred(sim)];
        const dot = (a: number[], b: number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
        const spread = Math.sqrt(dot(dx, dx) * dot(dy, dy));
        if (pairs.length >= 3 && spread > 1e9) expect(request_level.pearson_r).toBeCloseTo(dot(dx, dy) / spread, 4);
        const bias = dot(
          sim.map((value, i) => value - real[i]!),
          sim.map(() => 1),
        );
        expect(request_level.bias_direction).toBe(bias > 0 ? 'over-predict' : bias < 0 ? 'under-predict' : 'neutral');
      }),
      { numRuns: 200, seed: 11 },
    );
  });
});
