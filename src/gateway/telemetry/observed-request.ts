import type { FinishedRequest } from '../proxy/finished-request.js';

/** A try that another followed. */
export interface FailedTry {
  readonly replicaId: string;
  readonly dispatchedUs: number;
  readonly endedUs: number;
  /** In a few words that are constants. */
  readonly cause: string;
}

/** A request that has ended, with how it was decided: for those who write about single requests. */
export interface ObservedRequest extends FinishedRequest {
  /** Of the last decision; both empty when there was none. */
  readonly policy: string;
  readonly rule: string;
  /** In their order; the last try, to the replica that answered, is the request's own. */
  readonly failedTries: readonly FailedTry[];
}
