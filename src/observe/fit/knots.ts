/** Where curves by tokens may bend. Engines replay recorded graphs up to 512 tokens: what lies beyond is another matter. */
const LADDER = [
  1, 4, 8, 16, 32, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024, 1536, 2048, 3072, 4096, 8192, 16_384,
];

/** Fewer steps than this between two knots say nothing about a bend. */
const LEAST_STEPS = 3;
const LONGEST_SHARE = 0.8;

/**
 * The knots that steps of these sizes can tell apart: the smallest size, rungs of the ladder with steps on both sides, and
 * the largest size. A step above `launchedAbove` tokens is launched differently: the curve may jump there.
 */
export function knotsFor(sizes: readonly number[], launchedAbove: number): number[] {
  const sorted = Float64Array.from(sizes).sort();
  if (sorted.length === 0) return [1];
  const knots = [sorted[0]!];
  const last = sorted.at(-1)!;
  const within = (from: number, to: number) => sorted.filter((size) => size > from && size <= to).length;
  for (const rung of [...LADDER, launchedAbove + 1].sort((a, b) => a - b)) {
    // The last stretch goes on beyond the data, so it is not to be a short one.
    if (rung <= knots.at(-1)! || rung > LONGEST_SHARE * last) continue;
    const jump = rung === launchedAbove + 1 && knots.at(-1) === launchedAbove;
    if ((jump || within(knots.at(-1)!, rung) >= LEAST_STEPS) && within(rung, last) >= LEAST_STEPS) knots.push(rung);
  }
  if (last > knots.at(-1)!) knots.push(last);
  return knots;
}
