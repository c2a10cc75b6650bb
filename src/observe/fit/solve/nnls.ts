/**
 * Least squares with coefficients of at least 0, from the normal equations `matrix` x = `right`: the active-set method of
 * Lawson and Hanson. Columns are scaled first, so that their units do not matter; a column without data stays 0.
 *
 * @param matrix symmetric, size x size, row after row
 */
export function nonNegative(matrix: Float64Array, right: Float64Array): Float64Array {
  const size = right.length;
  const scale = Float64Array.from(right, (_, i) => Math.sqrt(matrix[i * size + i]!));
  const a = new Float64Array(size * size);
  const b = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    if (scale[i] === 0) continue;
    b[i] = right[i]! / scale[i]!;
    for (let j = 0; j < size; j++) if (scale[j]! > 0) a[i * size + j] = matrix[i * size + j]! / (scale[i]! * scale[j]!);
  }
  const x = new Float64Array(size);
  const free: number[] = [];
  for (let round = 0; round < 3 * size; round++) {
    const next = steepest(a, b, x, free, scale);
    if (next < 0) break;
    free.push(next);
    while (!stepTowards(x, free, solveFree(a, b, free)));
  }
  return x.map((value, i) => (scale[i] === 0 ? 0 : value / scale[i]!));
}

/** The coefficient at 0 that lowers the error most when it grows; -1 when none does. */
function steepest(
  a: Float64Array,
  b: Float64Array,
  x: Float64Array,
  free: readonly number[],
  scale: Float64Array,
): number {
  const size = b.length;
  const least = 1e-10 * b.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  let best = -1;
  let most = least;
  for (let i = 0; i < size; i++) {
    if (scale[i] === 0 || free.includes(i)) continue;
    let slope = b[i]!;
    for (let j = 0; j < size; j++) slope -= a[i * size + j]! * x[j]!;
    if (slope > most) {
      most = slope;
      best = i;
    }
  }
  return best;
}

/** Moves to the target until a value would fall below 0; that one is bound to 0 again. Returns whether it got there. */
function stepTowards(x: Float64Array, free: number[], target: Float64Array): boolean {
  let far = 1;
  for (const [k, i] of free.entries()) if (target[k]! <= 0) far = Math.min(far, x[i]! / (x[i]! - target[k]!));
  for (const [k, i] of free.entries()) x[i]! += far * (target[k]! - x[i]!);
  if (far === 1) return true;
  const stay = free.filter((i, k) => target[k]! > 0 || x[i]! > 1e-12);
  for (const i of free) if (!stay.includes(i)) x[i] = 0;
  free.splice(0, free.length, ...stay);
  return false;
}

function solveFree(a: Float64Array, b: Float64Array, free: readonly number[]): Float64Array {
  const n = free.length;
  const part = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) part[i * n + j] = a[free[i]! * b.length + free[j]!]!;
  }
  return solve(
    part,
    Float64Array.from(free, (i) => b[i]!),
  );
}

/** Solves a symmetric positive system by Cholesky's method; a hair is added to the diagonal, so that it always works. */
export function solve(matrix: Float64Array, right: Float64Array): Float64Array {
  const n = right.length;
  const l = Float64Array.from(matrix);
  for (let j = 0; j < n; j++) {
    let pivot = l[j * n + j]! * (1 + 1e-10) + 1e-12;
    for (let k = 0; k < j; k++) pivot -= l[j * n + k]! ** 2;
    const root = Math.sqrt(Math.max(pivot, 1e-12));
    l[j * n + j] = root;
    for (let i = j + 1; i < n; i++) {
      let value = l[i * n + j]!;
      for (let k = 0; k < j; k++) value -= l[i * n + k]! * l[j * n + k]!;
      l[i * n + j] = value / root;
    }
  }
  const x = Float64Array.from(right);
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) x[i]! -= l[i * n + k]! * x[k]!;
    x[i]! /= l[i * n + i]!;
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) x[i]! -= l[k * n + i]! * x[k]!;
    x[i]! /= l[i * n + i]!;
  }
  return x;
}
