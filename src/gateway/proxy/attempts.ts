import type { Endpoint } from '../fleet/endpoint/endpoint.js';
import type { PlacedRequest } from '../fleet/endpoint/placer.js';
import { isUpstreamsOwn } from '../fleet/replica/external-api.js';
import type { LiveReplica } from '../fleet/replica/live-replica.js';
import type { TrafficRecorder } from '../recording/traffic-recorder.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { RequestRecord } from '../request/request-record.js';
import type { ExchangeHost } from './exchange-host.js';

/** Statuses that are retried on another replica. */
const WORTH_ANOTHER_ATTEMPT = new Set([502, 503, 504]);
const NO_REPLICAS: readonly LiveReplica[] = [];

/**
 * Limits retries to a share of requests: when everything fails, retrying everything makes it worse. Every request earns
 * a share of a retry; a few are available from the start.
 */
export class RetryBudget {
  /** Requests that have not been credited yet. */
  requests = 0;
  readonly #most: number;
  #share: number;
  #earned: number;

  constructor(share: number, most = 10) {
    this.#share = share;
    this.#most = most;
    this.#earned = share > 0 ? most : 0;
  }

  /** Applies to new requests: what has been earned stays. */
  set share(share: number) {
    this.#credit();
    this.#share = share;
  }

  /** Whether one more attempt is affordable; takes it if so. */
  spend(): boolean {
    this.#credit();
    if (this.#earned < 1) return false;
    this.#earned -= 1;
    return true;
  }

  #credit(): void {
    this.#earned = Math.min(this.#most, this.#earned + this.requests * this.#share);
    this.requests = 0;
  }
}

/**
 * The replicas that a request is sent to, one after the other: the present one, those that failed it, and whether
 * another attempt is allowed. The request is released on each replica exactly once.
 */
export class Attempts {
  /** Where the request is now; null while no replica has it. */
  placed: PlacedRequest | null = null;
  /** The replica that has it or had it last. */
  replica: LiveReplica | null = null;
  /** Replicas that have failed it. */
  tried = NO_REPLICAS;
  readonly #host: ExchangeHost;
  readonly #endpoint: Endpoint;
  readonly #facts: RequestFacts;
  readonly #record: RequestRecord;

  constructor(host: ExchangeHost, endpoint: Endpoint, facts: RequestFacts, record: RequestRecord) {
    this.#host = host;
    this.#endpoint = endpoint;
    this.#facts = facts;
    this.#record = record;
  }

  /**
   * Places the request on a replica, null when none can take it; throws an ApiError for a request that is refused
   * without a decision.
   */
  next(): PlacedRequest | null {
    const endpoint = this.#endpoint;
    const host = this.#host;
    const record = this.#record;
    const placed = endpoint.placer.place(this.#facts, this.tried.length, this.tried);
    if (placed === null) return null;
    this.placed = placed;
    this.replica = placed.replica;
    record.replicaId = placed.replica.id;
    record.policy = endpoint.policy.name;
    record.rule = endpoint.placer.lastRule;
    record.attempts++;
    record.dispatchedUs = host.nowUs();
    const { recorder } = host.services;
    if (recorder !== null && record.attempts === 1) this.#noteBlocks(recorder);
    return placed;
  }

  /** Whether another replica may do better, by the status of this one's response. */
  isWorthAnother(status: number): boolean {
    return this.replica!.external === null ? WORTH_ANOTHER_ATTEMPT.has(status) : isUpstreamsOwn(status);
  }

  /**
   * Whether the limit, the budget and the fleet allow one more attempt.
   * @param hasBroken the replica broke off: waiting for a restarted replica counts as an attempt as well
   */
  mayRetry(hasBroken: boolean): boolean {
    const { budget, config } = this.#host;
    if (this.tried.length >= config.retries.most) return false;
    const endpoint = this.#endpoint;
    const isAwaited = hasBroken && endpoint.isAwaited && this.replica!.external === null;
    return (isAwaited || endpoint.hasOther(this.#facts.model, this.tried, this.replica!)) && budget.spend();
  }

  /**
   * Counts the failure against the replica.
   * @param responded it responded with an error status; else it broke off or took too long
   */
  blame(responded: boolean): void {
    const { breaker, id } = this.replica!;
    const wasOpen = breaker.isOpen;
    this.#endpoint.placer.failed(this.placed!, this.#facts, responded);
    if (!wasOpen && breaker.isOpen) this.#host.metrics.replicas.breakerOpened(id);
  }

  /** The first byte of the response body has arrived. */
  firstByte(): void {
    const { breaker } = this.replica!;
    this.#endpoint.placer.firstToken(this.placed!);
    if (breaker.isOpen && this.#record.status < 400) breaker.responded(this.placed!.request);
  }

  succeeded(): void {
    this.#endpoint.placer.succeeded(this.placed!, this.#facts);
  }

  /** Releases the request from its replica, if it is on one. */
  leave(): void {
    if (this.placed === null) return;
    const { placed } = this;
    this.placed = null;
    this.#endpoint.placer.finish(placed);
  }

  /**
   * Leaves the present replica. Returns the pause before the next attempt in milliseconds, which grows with every
   * attempt.
   */
  giveUp(cause: string): number {
    const { config, metrics } = this.#host;
    const record = this.#record;
    const { dispatchedUs, failedAttempts, replicaId } = record;
    this.leave();
    this.tried = [...this.tried, this.replica!];
    record.failedAttempts = [...failedAttempts, { replicaId, dispatchedUs, endedUs: this.#host.nowUs(), cause }];
    record.isStreamed = false;
    record.status = 0;
    metrics.retries++;
    return config.retries.backoffMs * 2 ** (this.tried.length - 1) * (0.5 + this.#host.jitter() / 2);
  }

  /** Records the prompt of a refused request: a replay with other limits may admit it. */
  notePrompt(recorder: TrafficRecorder): void {
    if (this.#record.recordedBlocks !== '') return;
    try {
      this.#endpoint.look.tokensOf(this.#facts);
      this.#noteBlocks(recorder);
    } catch {
      // A prompt that cannot be measured is recorded without its blocks.
    }
  }

  /** The prompt measured last must be this request's. */
  #noteBlocks(recorder: TrafficRecorder): void {
    const { blockSize, prompt } = this.#endpoint;
    this.#record.blockSize = blockSize;
    this.#record.recordedBlocks = recorder.blocksOf(prompt.blockWords, prompt.blockCount);
  }
}
