const FIRST_MS = 1000;
const LONGEST_MS = 300_000;

/** Back-off after consecutive failures: 0 ms after none, then 1, 2, 4, ... seconds, at most five minutes. */
export function retryDelay(failures: number): number {
  return failures === 0 ? 0 : Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), LONGEST_MS);
}
