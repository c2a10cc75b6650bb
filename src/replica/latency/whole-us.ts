/** Truncates to whole microseconds; what is not a number or too large to count exactly becomes the largest exact count. */
export function wholeUs(us: number): number {
  return us < Number.MAX_SAFE_INTEGER ? Math.trunc(us) : Number.MAX_SAFE_INTEGER;
}

/** The duration of a step: whole microseconds, and time always moves on. */
export function stepDurationUs(us: number): number {
  return Math.max(1, wholeUs(us));
}
