import type { ApiError } from '../../protocol/errors.js';
import type { RequestFacts } from '../request/request-facts.js';

/** The wait of a request that was never in the queue. */
export const NOT_QUEUED = -1;

/**
 * A request at the flow control of its endpoint. It gets exactly one of `mayGo` and `refused`, at once or later, and neither when it
 * has left before.
 */
export interface Waiting {
  readonly facts: RequestFacts;
  /** Its number in the queue, set by the queue; -1 whenever it does not wait. */
  queueSlot: number;
  /** A replica may be chosen for it now, after this wait. */
  mayGo(queuedUs: number): void;
  /**
   * @param cause why: a constant
   * @param queuedUs how long it waited; -1 if it never did
   */
  refused(error: ApiError, cause: string, queuedUs: number): void;
}
