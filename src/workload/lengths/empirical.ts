import { always, Bounds, type LengthDistribution } from './length-distribution.js';

export const empiricalLength: LengthDistribution = {
  name: 'empirical',
  summary: 'as observed: each length with its share',
  parameters: null,
  create(shares, limits) {
    const bounds = new Bounds({}, limits);
    const lengths: number[] = [];
    const sums: number[] = [];
    let sum = 0;
    for (const [length, share] of Object.entries(shares)) {
      if (share === 0) continue;
      lengths.push(bounds.whole(Number(length)));
      sum += share;
      sums.push(sum);
    }
    if (lengths.length === 1) return always(lengths[0]!);
    return { draw: (random) => lengths[firstAbove(sums, random.next() * sum)]! };
  },
};

/** The first of ascending sums above a value below the last one. */
function firstAbove(sums: readonly number[], value: number): number {
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
