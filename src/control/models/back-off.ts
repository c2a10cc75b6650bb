import type { Clock } from './contract.js';
import { isTransient, type ModelError } from './errors.js';

/** Consecutive failures after which the error is thrown. */
export const MOST_FAILURES = 5;
const FIRST_MS = 1000;
const LONGEST_MS = 30_000;
/** A longer Retry-After is not waited for. */
const LONGEST_RETRY_AFTER_MS = 300_000;

/**
 * Waits after the n-th consecutive failure: the registry's Retry-After, else 1, 2, 4, ... seconds. Throws the error instead when
 * there have been too many, or when the wait would be too long.
 */
export async function backOff(error: ModelError, failures: number, clock: Clock, signal?: AbortSignal): Promise<void> {
  if (failures >= MOST_FAILURES || (error.retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) throw error;
  await clock.sleep(error.retryAfterMs ?? Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS), signal);
}

/** Retries transient failures. */
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
