/** Percentile p (0..100) of sorted values by linear interpolation between the two nearest ranks; 0 when there are none. */
export function percentile(sorted: ArrayLike<number>, p: number): number {
  const n = sorted.length;
  if (n === 0) return 0;
  const rank = (p / 100) * (n - 1);
  const low = Math.floor(rank);
  const high = Math.ceil(rank);
  const below = sorted[low]!;
  return low === high ? below : below + (rank - low) * (sorted[high]! - below);
}

export function mean(values: ArrayLike<number>): number {
  const n = values.length;
  if (n === 0) return 0;
  let sum = 0;
  for (let i = 0; i < n; i++) sum += values[i]!;
  return sum / n;
}
