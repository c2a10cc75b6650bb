import type { FailedAttempt, FinishedRequest, Outcome } from '../request/request-record.js';

/** A request that has ended, as the ring keeps it: ids, names of the installation and numbers, no text. */
export interface PastRequest {
  /** Grows with every request. */
  number: number;
  /** When it was added, by the gateway's clock: grows with the number. */
  addedUs: number;
  id: string;
  endpoint: string;
  model: string;
  keyId: string;
  sloClass: string;
  replica: string;
  status: number;
  outcome: Outcome;
  cause: string;
  attempts: number;
  isStreamed: boolean;
  arrivedUs: number;
  queuedUs: number;
  dispatchedUs: number;
  firstTokenUs: number;
  endedUs: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  policy: string;
  failedAttempts: readonly FailedAttempt[];
}

/** The last requests, a bounded number of them: the newest overwrites the oldest, so that nothing is allocated for long. */
export class RequestRing {
  /** How many are kept at most. */
  readonly most: number;
  readonly #entries: PastRequest[] = [];
  #added = 0;
  #addedUs = 0;

  constructor(most = 10_000) {
    this.most = most;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** The number of the last request. */
  get added(): number {
    return this.#added;
  }

  /** The number of the oldest request that is here. */
  get oldest(): number {
    return this.#added - this.#entries.length + 1;
  }

  ended(request: FinishedRequest): void {
    const at = this.#added % this.most;
    this.#entries[at] ??= {} as PastRequest;
    const entry = this.#entries[at];
    this.#added++;
    entry.number = this.#added;
    this.#addedUs = Math.max(this.#addedUs, request.endedUs);
    entry.addedUs = this.#addedUs;
    entry.id = request.id;
    entry.endpoint = request.endpoint.name;
    entry.model = request.model;
    entry.keyId = request.keyId;
    entry.sloClass = request.sloClass;
    entry.replica = request.replicaId;
    entry.status = request.status;
    entry.outcome = request.outcome;
    entry.cause = request.cause;
    entry.attempts = request.attempts;
    entry.isStreamed = request.isStreamed;
    entry.arrivedUs = request.arrivedUs;
    entry.queuedUs = request.queuedUs;
    entry.dispatchedUs = request.dispatchedUs;
    entry.firstTokenUs = request.firstTokenUs;
    entry.endedUs = request.endedUs;
    entry.inputTokens = request.inputTokens;
    entry.cachedTokens = request.cachedTokens;
    entry.outputTokens = request.outputTokens;
    entry.policy = request.policy;
    entry.failedAttempts = request.failedAttempts;
  }

  /**
   * Requests that ended before one, the latest first. The entries are the ring's own: to be copied at once.
   * @param number of that request; Infinity for the latest of all
   */
  before(number: number, count: number, isWanted: (request: PastRequest) => boolean): PastRequest[] {
    const found: PastRequest[] = [];
    const { length } = this.#entries;
    const skipped = Math.min(Math.max(0, this.#added - number + 1), length);
    for (let i = skipped; i < length && found.length < count; i++) {
      const entry = this.#entries[(this.#added - 1 - i) % this.most]!;
      if (!isForgotten(entry) && isWanted(entry)) found.push(entry);
    }
    return found;
  }

  /** Requests from a number on, the earliest first: what is there of them, also what is forgotten. The entries are the ring's own. */
  from(number: number, count: number): PastRequest[] {
    const first = Math.max(number, this.oldest);
    const length = Math.max(0, Math.min(count, this.#added - first + 1));
    return Array.from({ length }, (_, i) => this.#entries[(first - 1 + i) % this.most]!);
  }

  /** How many of the requests that are kept are wanted. */
  count(isWanted: (request: PastRequest) => boolean): number {
    let count = 0;
    for (const entry of this.#entries) if (!isForgotten(entry) && isWanted(entry)) count++;
    return count;
  }

  /** Requests of some endpoints are found no more. @param untilUs later ones are */
  forget(isOf: (endpoint: string) => boolean, untilUs: number): void {
    for (const entry of this.#entries) if (entry.addedUs <= untilUs && isOf(entry.endpoint)) entry.id = '';
  }
}

/** No request has an empty id. */
export const isForgotten = ({ id }: PastRequest) => id === '';
