import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nonNegative, solve } from './nnls.js';

/** The normal equations of rows of columns and their target values. */
function normal(rows: readonly (readonly number[])[], values: readonly number[]) {
  const n = rows[0]!.length;
  const matrix = new Float64Array(n * n);
  const right = new Float64Array(n);
  for (const [k, row] of rows.entries()) {
    for (let i = 0; i < n; i++) {
      right[i]! += row[i]! * values[k]!;
      for (let j = 0; j < n; j++) matrix[i * n + j]! += row[i]! * row[j]!;
    }
  }
  return { matrix, right };
}

function errorOf(rows: readonly (readonly number[])[], values: readonly number[], x: ArrayLike<number>): number {
  return rows.reduce((sum, row, k) => sum + (row.reduce((v, a, i) => v + a * x[i]!, 0) - values[k]!) ** 2, 0);
}

describe('nonNegative', () => {
  it('is the plain solution where that has no negative value', () => {
    const rows = [
      [1, 0, 1000],
      [1, 1, 0],
      [1, 2, 3000],
      [1, 5, 1000],
    ];
    const { matrix, right } = normal(
      rows,
      rows.map(([a, b, c]) => 3 * a! + 0.5 * b! + 0.002 * c!),
    );
    const x = nonNegative(matrix, right);
    expect([x[0]!, x[1]!, x[2]!].map((value) => Number(value.toFixed(6)))).toEqual([3, 0.5, 0.002]);
  });

  it('holds at 0 what would be negative, and leaves empty columns alone', () => {
    const rows = [
      [1, 0, 0],
      [1, 1, 0],
      [1, 2, 0],
    ];
    const { matrix, right } = normal(rows, [3, 2, 1]);
    const x = nonNegative(matrix, right);
    expect(x[0]).toBeCloseTo(2, 9);
    expect([x[1], x[2]]).toEqual([0, 0]);
  });

  it('is never worse than any other point without negative values', () => {
    const value = fc.integer({ min: -20, max: 20 });
    const rows = fc.array(fc.array(value, { minLength: 3, maxLength: 3 }), { minLength: 4, maxLength: 8 });
    const point = fc.array(fc.nat(30), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(
        rows,
        fc.array(value, { minLength: 8, maxLength: 8 }),
        fc.array(point, { maxLength: 20 }),
        (a, y, others) => {
          const { matrix, right } = normal(a, y);
          const x = nonNegative(matrix, right);
          expect(x.every((one) => one >= 0)).toBe(true);
          const least = errorOf(a, y, x);
          for (const other of others) {
            expect(least).toBeLessThanOrEqual(
              errorOf(
                a,
                y,
                other.map((one) => one / 10),
              ) *
                (1 + 1e-6) +
                1e-6,
            );
          }
        },
      ),
    );
  });
});

describe('solve', () => {
  it('solves what is well behaved, and does not break on what is not', () => {
    const x = solve(Float64Array.of(4, 2, 2, 3), Float64Array.of(10, 9));
    expect([x[0]!.toFixed(6), x[1]!.toFixed(6)]).toEqual(['1.500000', '2.000000']);
    expect(solve(Float64Array.of(1, 1, 1, 1), Float64Array.of(2, 2)).every(Number.isFinite)).toBe(true);
  });
});
