import { expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import type { LengthDistribution, LengthLimits } from './length-distribution.js';

const LIMITS: LengthLimits[] = [
  { least: 1, most: 2 ** 31 - 1 },
  { least: 0, most: 12 },
];

/** What every length distribution promises. */
export function itIsALengthDistribution(distribution: LengthDistribution, parameters: Record<string, number>): void {
  const draws = (limits: LengthLimits, more: Record<string, number> = {}) => {
    const sampler = distribution.create({ ...parameters, ...more }, limits);
    const random = randomStream(3, 'lengths');
    return Array.from({ length: 5000 }, () => sampler.draw(random));
  };

  it.each(LIMITS)('draws whole numbers within the limits, the same from the same stream: %o', (limits) => {
    const lengths = draws(limits);
    expect(draws(limits)).toEqual(lengths);
    for (const length of lengths) {
      expect(Number.isInteger(length)).toBe(true);
      expect(length).toBeGreaterThanOrEqual(limits.least);
      expect(length).toBeLessThanOrEqual(limits.most);
    }
  });

  it('keeps to its own bounds, and draws nothing where they leave no choice', () => {
    if (distribution.parameters === null || distribution.parameters.min === undefined) {
      return expect(Object.keys(distribution.parameters ?? {})).not.toContain('max');
    }
    for (const length of draws(LIMITS[0]!, { min: 80.5, max: 120.5 })) {
      expect(length).toBeGreaterThanOrEqual(81);
      expect(length).toBeLessThanOrEqual(120);
    }
    const random = randomStream(3, 'lengths');
    const before = random.state();
    expect(distribution.create({ ...parameters, min: 90, max: 90 }, LIMITS[0]!).draw(random)).toBe(90);
    expect(random.state()).toEqual(before);
  });

  it('describes its parameters', () => {
    expect(distribution.summary).not.toBe('');
    for (const { help } of Object.values(distribution.parameters ?? {})) expect(help).not.toBe('');
  });
}
