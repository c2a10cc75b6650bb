import type { ApiError } from '../../protocol/errors.js';
import type { RequestFacts } from '../request/request-facts.js';

/** How long a request has waited that never stood in the queue. */
export const NOT_QUEUED = -1;

/**
 * A request at the gate of its endpoint. It hears exactly one of `mayGo` and `refused`, at once or later, and neither when it
 * has left before.
 */
export interface Waiting {
  readonly facts: RequestFacts;
  /** Where it stands in the queue: the queue's own note. -1 to begin with, and whenever it does not wait. */
  queueSlot: number;
  /** A replica may be chosen for it now, after so long a wait. */
  mayGo(queuedUs: number): void;
  /**
   * @param cause why, in a few words that are constants
   * @param queuedUs how long it waited all the same; -1 if it never did
   */
  refused(error: ApiError, cause: string, queuedUs: number): void;
}
