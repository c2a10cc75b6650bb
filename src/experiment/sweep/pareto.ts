/** A candidate for the front: its values, less is better in each. */
export type ParetoValues = readonly number[];

/** Places of the candidates that no other beats: one that is as good in all values and better in one. */
export function paretoFront(candidates: readonly ParetoValues[]): number[] {
  // By the first value, ties by the others: what beats a candidate stands before it.
  const order = candidates.map((_, i) => i).sort((a, b) => compareValues(candidates[a]!, candidates[b]!) || a - b);
  const front: number[] = [];
  for (const at of order) {
    const beaten = front.some((other) => beats(candidates[other]!, candidates[at]!));
    if (!beaten) front.push(at);
  }
  return front.sort((a, b) => a - b);
}

function compareValues(a: ParetoValues, b: ParetoValues): number {
  for (const [i, value] of a.entries()) if (value !== b[i]) return value - b[i]!;
  return 0;
}

function beats(a: ParetoValues, b: ParetoValues): boolean {
  return a.every((value, i) => value <= b[i]!) && a.some((value, i) => value < b[i]!);
}
