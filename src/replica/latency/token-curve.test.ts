import { describe, expect, it } from 'vitest';
import { TokenCurve } from './token-curve.js';

describe('a time by tokens', () => {
  const curve = new TokenCurve([
    { tokens: 4, us: 100 },
    { tokens: 8, us: 140 },
    { tokens: 9, us: 200 },
    { tokens: 19, us: 300 },
  ]);

  it('passes through its points, in straight lines', () => {
    expect([4, 6, 8, 9, 14, 19].map((tokens) => curve.at(tokens))).toEqual([100, 120, 140, 200, 250, 300]);
  });

  it('is flat before the first and extrapolated after the last', () => {
    expect([0, 1, 3, 29, 119].map((tokens) => curve.at(tokens))).toEqual([100, 100, 100, 400, 1300]);
  });

  it('may be a single point', () => {
    const flat = new TokenCurve([{ tokens: 3, us: 7 }]);
    expect([0, 3, 4, 1e6].map((tokens) => flat.at(tokens))).toEqual([7, 7, 7, 7]);
  });

  it('is computed without the table beyond its end', () => {
    const long = new TokenCurve([
      { tokens: 1, us: 1 },
      { tokens: 100_001, us: 100_001 },
    ]);
    expect([16_384, 16_385, 50_000, 200_000].map((tokens) => long.at(tokens))).toEqual([
      16_384, 16_385, 50_000, 200_000,
    ]);
  });
});
