/** Where a request stands in lists: by the time at which it ended, then by the run of its gateway and its number there. */
export interface RequestPlace {
  /** Microseconds since 1970. */
  readonly endedAt: number;
  readonly gateway: string;
  readonly number: number;
}

/** A request that has ended, as a store keeps it: ids, names of the installation and numbers, no text of the request. */
export interface KeptRequest extends RequestPlace {
  readonly id: string;
  readonly workspace: string;
  readonly endpoint: string;
  readonly model: string;
  readonly keyId: string;
  readonly sloClass: string;
  readonly replica: string;
  readonly outcome: string;
  /** -1 without a first token. */
  readonly ttftUs: number;
  readonly durationUs: number;
  readonly facts: KeptFacts;
}

/** What no filter looks into. Times are microseconds from the arrival, -1 for events that did not happen. */
export interface KeptFacts {
  /** Microseconds since 1970. */
  readonly arrivedAt: number;
  readonly status: number;
  readonly cause: string;
  readonly policy: string;
  readonly attempts: number;
  readonly isStreamed: boolean;
  readonly queuedUs: number;
  readonly dispatchedUs: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly failedAttempts: readonly {
    readonly replica: string;
    readonly startUs: number;
    readonly endUs: number;
    readonly cause: string;
  }[];
}

/** One with the explanation of its decision; null where there is none. */
export interface NewRequest {
  readonly request: KeptRequest;
  readonly explanation: unknown;
}

/** Which requests are wanted. What is absent does not matter. */
export interface RequestFilter {
  /** Only of these workspaces. */
  readonly workspaces?: readonly string[];
  readonly endpoint?: string;
  /** What the id begins with. */
  readonly idPrefix?: string;
  readonly model?: string;
  readonly keyId?: string;
  readonly sloClass?: string;
  readonly replica?: string;
  /** `failed` for all but `ok`. */
  readonly outcome?: string;
  readonly minTtftUs?: number;
  readonly minDurationUs?: number;
  /** Ended at this time or later, and before that one; microseconds since 1970. */
  readonly from?: number;
  readonly to?: number;
  /** Not those of this run with this number or a later one: the caller has them. */
  readonly except?: { readonly gateway: string; readonly from: number };
}

/** Times to the first token from which on a request is slower by one level: slow ones are found without reading the others. */
const SLOW_LEVELS_US: readonly number[] = [200_000, 500_000, 1_000_000, 5_000_000];
export const MOST_SLOW = SLOW_LEVELS_US.length;

export const slowLevel = (ttftUs: number) => SLOW_LEVELS_US.filter((least) => ttftUs >= least).length;

/** How a request may end, besides `ok`. */
export const FAILED_OUTCOMES = [
  ...['client_error', 'upstream_error', 'timeout', 'client_left', 'refused', 'no_replica', 'fault'],
] as const;

/** The later one first. */
export function comparePlaces(a: RequestPlace, b: RequestPlace): number {
  if (a.endedAt !== b.endedAt) return b.endedAt - a.endedAt;
  if (a.gateway !== b.gateway) return a.gateway < b.gateway ? 1 : -1;
  return b.number - a.number;
}
