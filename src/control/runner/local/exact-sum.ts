/** Shares are counted in millionths: ten tenths are one, which they are not in floating point. */
const PARTS = 1e6;

/** A share as it is counted: never rounded to nothing. */
export const exact = (share: number) => Math.max(1, Math.round(share * PARTS)) / PARTS;

export function exactSum(shares: readonly number[]): number {
  return shares.reduce((sum, share) => sum + Math.round(share * PARTS), 0) / PARTS;
}
