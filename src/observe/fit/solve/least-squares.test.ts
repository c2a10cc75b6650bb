import { describe, expect, it } from 'vitest';
import { leastSquares } from './least-squares.js';

const WIDTHS = [0.03, 0.03];

describe('leastSquares', () => {
  it('finds what explains a curve, step by step', () => {
    const times = Array.from({ length: 20 }, (_, i) => i / 4);
    const curve = ([height, rate]: Iterable<number>) =>
      times.map((t) => Math.exp(height!) * Math.exp(-Math.exp(rate!) * t));
    const seen = curve([1, -1]);
    const rounds: number[] = [];
    const { at, loss } = leastSquares(
      Float64Array.of(0, 0),
      WIDTHS,
      (x) => Float64Array.from(curve(x), (value, i) => value - seen[i]!),
      (round) => rounds.push(round),
    );
    expect([at[0]!.toFixed(3), at[1]!.toFixed(3)]).toEqual(['1.000', '-1.000']);
    expect(loss).toBeLessThan(1e-6);
    expect(rounds).toEqual([...rounds.keys()]);
  });

  it('stays where it is when nothing is better', () => {
    const { at } = leastSquares(
      Float64Array.of(0, 0),
      WIDTHS,
      (x) => Float64Array.of(x[0]!, x[1]!, 1),
      () => {},
    );
    expect([...at]).toEqual([0, 0]);
  });

  it('takes no step of more than a factor of two', () => {
    const asked: number[] = [];
    leastSquares(
      Float64Array.of(0),
      [0.03],
      (x) => {
        asked.push(x[0]!);
        return Float64Array.of(x[0]! - 10);
      },
      () => {},
    );
    const steps = asked.map((value, i) => (i === 0 ? 0 : value - asked[i - 1]!));
    expect(Math.max(...steps)).toBeLessThan(Math.LN2 + 0.1);
    expect(asked.at(-1)).toBeCloseTo(10, 1);
  });
});
