import { retryDelay } from '../../queue/retry-delay.js';
import type { ObservedReplica } from './endpoint-state.js';

/** After being ready for this long, a replica was healthy: its exit does not count as a failed start. */
const HEALTHY_MS = 60_000;

/** When an exited replica may be replaced, and how many have then failed in a row. */
export interface Restart {
  readonly notBefore: number;
  readonly restarts: number;
}

/** At once the first time, then after 1, 2, 4, ... seconds, at most five minutes; from the beginning after a healthy replica. */
export function restartAfter({ exit, readyAt, restarts }: ObservedReplica): Restart {
  const { at } = exit!;
  const wasHealthy = readyAt !== null && at - readyAt >= HEALTHY_MS;
  const failures = wasHealthy ? 0 : restarts;
  return { notBefore: at + retryDelay(failures), restarts: failures + 1 };
}
