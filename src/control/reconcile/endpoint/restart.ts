import { retryDelay } from '../retry-delay.js';
import type { ObservedReplica } from './endpoint-state.js';

/** A replica that was ready for so long was well: what ended it has nothing to do with how it began. */
const WELL_MS = 60_000;

/** What follows the exit of a replica: when another may take its place, and how many have failed in a row by then. */
export interface Restart {
  readonly notBefore: number;
  readonly restarts: number;
}

/** The first time at once, then after 1, 2, 4, ... seconds, at most five minutes; from the beginning after one that was well. */
export function restartAfter({ exit, readyAt, restarts }: ObservedReplica): Restart {
  const { at } = exit!;
  const wasWell = readyAt !== null && at - readyAt >= WELL_MS;
  const failures = wasWell ? 0 : restarts;
  return { notBefore: at + retryDelay(failures), restarts: failures + 1 };
}
