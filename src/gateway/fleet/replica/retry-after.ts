/** A replica is not left out for longer, whatever it asks for. */
const MOST_MS = 60_000;

/**
 * The pause that a `retry-after` header asks for, in milliseconds: seconds, or a date. 0 when there is none or it cannot
 * be read.
 * @param dateMs the time of day, for a date
 */
export function retryAfterMs(header: string | undefined, dateMs: number): number {
  if (header === undefined) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - dateMs;
  return ms > 0 ? Math.min(ms, MOST_MS) : 0;
}
