import type { Clock } from './contract.js';
import { isTransient, type ModelError } from './errors.js';

/** After so many failures in a row it is for others to try again. */
export const MOST_FAILURES = 5;
const FIRST_MS = 1000;
const LONGEST_MS = 30_000;
/** A registry that wants to be left alone for longer is not waited for. */
const LONGEST_WISH_MS = 300_000;

/**
 * Waits after the n-th failure in a row: as long as the registry asked for, else a second, two, four and so on. Throws the
 * error when it is not worth waiting.
 */
export async function backOff(error: ModelError, failures: number, clock: Clock, signal?: AbortSignal): Promise<void> {
  if (failures >= MOST_FAILURES || (error.retryAfterMs ?? 0) > LONGEST_WISH_MS) throw error;
  await clock.sleep(error.retryAfterMs ?? Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS), signal);
}

/** Does the work, again after what may go away by itself. */
export async function retrying<Result>(
  work: () => Promise<Result>,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await backOff(error, failures, clock, signal);
    }
  }
}
