import { describe, expect, it } from 'vitest';
import { randomStream } from '../../../kernel/random-stream.js';
import { predictionInterval } from './prediction-interval.js';

const NO_NOISE = { mean: 0, median: 0, p90: 0, request: 0 };
const { next } = randomStream(7, 'test');
const real = Float64Array.from({ length: 900 }, () => 1000 * (1 + next()));
const sim = real.map((us) => us * (0.85 + 0.1 * next()));
const width = ([low, high]: readonly [number, number]) => high - low;

describe('the interval of a prediction', () => {
  it('holds the prediction and its error, and is the same every time', () => {
    const interval = predictionInterval('ttft', real, sim, NO_NOISE)!;
    const mean = sim.reduce((sum, us) => sum + us, 0) / sim.length;
    expect(interval.mean.sim[0]).toBeLessThan(mean);
    expect(interval.mean.sim[1]).toBeGreaterThan(mean);
    expect(width(interval.mean.sim)).toBeLessThan(0.1 * mean);
    // A tenth too fast, and sure of it: both sides are of the same requests.
    expect(interval.mean.error[0]).toBeGreaterThan(-0.11);
    expect(interval.mean.error[1]).toBeLessThan(-0.09);
    expect(predictionInterval('ttft', real, sim, NO_NOISE)).toEqual(interval);
    expect(predictionInterval('e2e', real, sim, NO_NOISE)).not.toEqual(interval);
  });

  it('says whether what was measured is in it, which takes what the hardware repeats', () => {
    const narrow = predictionInterval('ttft', real, sim, NO_NOISE)!;
    const wide = predictionInterval('ttft', real, sim, { ...NO_NOISE, mean: 0.1 })!;
    expect([narrow.mean.holds_measured, wide.mean.holds_measured]).toEqual([false, true]);
    expect(width(wide.mean.sim)).toBeGreaterThan(width(narrow.mean.sim));
    expect(wide.mean.error).toEqual(narrow.mean.error);
  });

  it('is wider where neighbours are alike: a busy minute counts as one thing, not as a hundred', () => {
    const waves = Float64Array.from({ length: 900 }, (_, i) => (Math.floor(i / 150) % 2 === 0 ? 1000 : 3000));
    const mixed = Float64Array.from({ length: 900 }, (_, i) => (i % 2 === 0 ? 1000 : 3000));
    const of = (values: Float64Array) => width(predictionInterval('ttft', values, values, NO_NOISE)!.mean.sim);
    expect(of(waves)).toBeGreaterThan(3 * of(mixed));
  });

  it('is absent for too few requests', () => {
    expect(predictionInterval('ttft', real.subarray(0, 7), sim.subarray(0, 7), NO_NOISE)).toBeNull();
    expect(predictionInterval('ttft', real.subarray(0, 8), sim.subarray(0, 8), NO_NOISE)).not.toBeNull();
  });
});
