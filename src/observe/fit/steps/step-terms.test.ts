import { describe, expect, it } from 'vitest';
import { randomStream } from '../../../kernel/random-stream.js';
import { engineLatency } from '../../../replica/latency/profile-latency.js';
import { randomShape } from '../planted.fixture.js';
import { knotsFor, StepTerms } from './step-terms.js';

describe('the columns of a step', () => {
  it('times their coefficients add up to the time of the profile with these coefficients', () => {
    const terms = new StepTerms([1, 16, 256], [16, 512, 513, 2048], true, true, 512);
    const coefficients = Float64Array.from({ length: terms.columns }, (_, i) => 1000 / (1 + i) ** 2);
    const request = { queueingUs: 0, outputTokenUs: 0, postDecodeUs: 0 };
    const slowdown = terms.unit('slowdown');
    coefficients[slowdown] = 0;
    const load = { tokenUs: 20, overUs: 50_000 };
    const step = terms.costs(coefficients, 0.6, 0, load);
    expect(step).not.toHaveProperty('slowdown');
    const slowed = terms.costs(coefficients.with(slowdown, 0.1), 0.6, 0, load);
    expect(slowed.slowdown).toEqual({ share: 0.1, ...load });
    expect(step.launch).toEqual({ aboveTokens: 512, us: 0, firstUs: coefficients[terms.unit('firstUs')] });
    const { stepUs } = engineLatency({ step, request }, 'fresh');
    const sizes = new Set<number>();
    const random = randomStream(3, 'step-terms');
    const row = new Float64Array(terms.columns);
    const sum = () => row.reduce((us, value, column) => us + value * coefficients[column]!, 0);
    for (let i = 0; i < 200; i++) {
      const shape = randomShape(random, 0.5);
      const tokens = shape.decodes + shape.prefillTokens;
      const sample = { shape, us: 1, count: 1, inService: true, firstOfSize: !sizes.has(tokens) };
      if (shape.prefills > 0) sizes.add(tokens);
      const byPairs = terms.isByPairs(shape, coefficients);
      terms.write(sample, 'whole', byPairs, 0.6, row, 0);
      const whole = sum();
      expect(Math.abs(Math.trunc(whole) - stepUs(shape))).toBeLessThanOrEqual(1);
      terms.write(sample, 'gpu', byPairs, 0.6, row, 0);
      const gpu = sum();
      terms.write(sample, 'host', byPairs, 0.6, row, 0);
      expect(gpu + sum()).toBeCloseTo(whole, 6);
      expect(row.every((value, column) => value === 0 || terms.isHost(column))).toBe(true);
    }
    expect(sizes.size).toBeGreaterThan(20);
  });
});

describe('knotsFor', () => {
  const upTo = (most: number) => Array.from({ length: most }, (_, i) => i + 1);

  it('has a knot where steps lie on both sides, and ends at the largest', () => {
    expect(knotsFor(upTo(40), 512)).toEqual([1, 4, 8, 16, 32, 40]);
    expect(knotsFor([7, 7, 7], 512)).toEqual([7]);
    expect(knotsFor([], 512)).toEqual([1]);
  });

  it('may jump where large steps are launched differently', () => {
    expect(knotsFor(upTo(1000), 512).slice(-5)).toEqual([512, 513, 640, 768, 1000]);
    expect(knotsFor(upTo(300), 512)).not.toContain(513);
  });

  it('has none without data', () => {
    expect(knotsFor([...upTo(10), ...upTo(10).map((n) => 1000 + n)], 512)).toEqual([1, 4, 8, 1010]);
  });
});
