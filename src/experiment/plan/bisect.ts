/** What a search tried, and what it found out about each. */
export type Tried = Map<number, boolean>;

/** Whether something holds at a number: a fleet of so many replicas keeps an SLO. */
export type Holds = (at: number) => Promise<boolean>;

/**
 * The least whole number from 1 to `most` where `holds`, from a guess: first further away from it in growing steps,
 * then halving what is left. Null when it does not hold at `most`.
 */
export async function leastWhere(holds: Holds, guess: number, most: number): Promise<number | null> {
  const start = Math.min(most, Math.max(1, guess));
  let step = Math.max(1, Math.round(start / 8));
  let low = 0;
  let high = start;
  if (await holds(start)) {
    for (; high > 1; step *= 2) {
      const at = Math.max(1, high - step);
      if (!(await holds(at))) {
        low = at;
        break;
      }
      high = at;
    }
  } else {
    for (low = start; ; step *= 2) {
      if (low >= most) return null;
      high = Math.min(most, low + step);
      if (await holds(high)) break;
      low = high;
    }
  }
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (await holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * The greatest number where `holds`, to a share of it, between one where it does (0: nothing is known) and a guess.
 * Both ends have been tried when it returns. Null when it holds nowhere above `least`, Infinity when it holds at `most`.
 */
export async function greatestWhere(
  holds: Holds,
  {
    from,
    guess,
    least,
    most,
    tolerance,
  }: { from: number; guess: number; least: number; most: number; tolerance: number },
): Promise<number | null> {
  let low = from;
  let high = Number.POSITIVE_INFINITY;
  let at = Math.min(most, Math.max(guess, from * (1 + tolerance)));
  while (high === Number.POSITIVE_INFINITY) {
    if (await holds(at)) {
      low = at;
      if (at >= most) return Number.POSITIVE_INFINITY;
      at = Math.min(most, at * 1.25);
    } else high = at;
  }
  while (low === 0 ? high > least : high / low > 1 + tolerance) {
    const middle = low === 0 ? Math.max(least, high / 2) : Math.sqrt(low * high);
    if (await holds(middle)) low = middle;
    else if (low === 0 && middle <= least) return null;
    else high = middle;
  }
  return low === 0 ? null : low;
}

/**
 * A pair that contradicts the order which a search by halves relies on: more replicas fail where fewer hold. Null when
 * everything that was tried is in order.
 * @param better which way it should get easier to hold
 */
export function outOfOrder(tried: Tried, better: 'more' | 'less'): { holds: number; fails: number } | null {
  const sorted = [...tried].sort(([a], [b]) => (better === 'more' ? a - b : b - a));
  const first = sorted.findIndex(([, held]) => held);
  if (first < 0) return null;
  const failed = sorted.slice(first).findLast(([, held]) => !held);
  return failed === undefined ? null : { holds: sorted[first]![0], fails: failed[0] };
}
