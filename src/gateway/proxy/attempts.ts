import type { Lateness } from '../../policy/host/suspicion.js';
import { API_KINDS } from '../../protocol/endpoints.js';
import type { Endpoint } from '../fleet/endpoint/endpoint.js';
import type { PlacedRequest } from '../fleet/endpoint/placer.js';
import { isUpstreamsOwn } from '../fleet/replica/external-api.js';
import type { LiveReplica } from '../fleet/replica/live-replica.js';
import { retryAfterMs } from '../fleet/replica/retry-after.js';
import type { TrafficRecorder } from '../recording/traffic-recorder.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { RequestRecord } from '../request/request-record.js';
import type { ExchangeHost } from './exchange-host.js';
import { headerValue } from './headers.js';

/** Statuses that are retried on another replica. */
const WORTH_ANOTHER_ATTEMPT = new Set([429, 500, 502, 503, 504]);
const RATE_LIMITED = 429;
const FAILED = 500;
const NO_HOSTS: readonly string[] = [];
const NO_REPLICAS: readonly LiveReplica[] = [];

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
  /** Hosts of those that broke off. */
  #brokenHosts: readonly string[] = NO_HOSTS;
  readonly #host: ExchangeHost;
  readonly #endpoint: Endpoint;
  readonly #facts: RequestFacts;
  readonly #record: RequestRecord;
  readonly #body: Buffer;
  /** It returned 500. That counts against it unless another replica returns 500 as well. */
  #doubted: LiveReplica | null = null;
  /** Its 500 was counted as the result of a probe. */
  #wasProbe = false;
  /** Two replicas have returned 500 for these bytes: their 500 is passed on, and counts against no replica. */
  #isPoison = false;

  constructor(host: ExchangeHost, endpoint: Endpoint, facts: RequestFacts, record: RequestRecord, body: Buffer) {
    this.#body = body;
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
    const placed = endpoint.placer.place(this.#facts, this.tried.length, this.tried, this.#brokenHosts);
    if (placed === null) return null;
    this.placed = placed;
    this.replica = placed.replica;
    record.replicaId = placed.replica.id;
    record.policy = endpoint.policy.name;
    record.rule = endpoint.placer.lastRule;
    record.attempts++;
    record.dispatchedUs = host.nowUs();
    this.#sample(placed);
    const { recorder } = host.services;
    if (recorder !== null && record.attempts === 1) this.#noteBlocks(recorder);
    return placed;
  }

  /**
   * The replica's headers have arrived. Returns whether another replica is tried instead of passing its response on; the
   * failure is then counted.
   * @param raw the headers, flat
   */
  leavesFor(status: number, raw: readonly string[]): boolean {
    if (status >= 400) this.replica!.heardUs = this.#host.nowUs();
    if (status === RATE_LIMITED) this.#pause(headerValue(raw, 'retry-after'));
    else if (status < FAILED) this.#settleDoubt();
    if (!this.#isWorthAnother(status)) return false;
    if (status === FAILED && this.#drewAnother500()) return false;
    if (!this.mayRetry(false)) return false;
    if (status === FAILED && this.#doubted === null) this.#doubt();
    else if (status !== RATE_LIMITED) this.blame(true);
    return true;
  }

  #isWorthAnother(status: number): boolean {
    return this.replica!.external === null ? WORTH_ANOTHER_ATTEMPT.has(status) : isUpstreamsOwn(status);
  }

  /**
   * Whether the limit, the budget and the fleet allow one more attempt.
   * @param hasBroken the replica broke off: waiting for a restarted replica counts as an attempt as well
   */
  mayRetry(hasBroken: boolean): boolean {
    const { budget, config } = this.#host;
    if (this.tried.length >= config.retries.most || this.#facts.pinnedTo !== '') return false;
    const endpoint = this.#endpoint;
    const isAwaited = hasBroken && endpoint.isAwaited && this.replica!.external === null;
    return (isAwaited || endpoint.hasOther(this.#facts.model, this.tried, this.replica!)) && budget.spend();
  }

  /**
   * Why a request that has received nothing leaves its replica, null when it stays: the replica responds to checks neither, or the
   * first byte is late (see `Suspicion`). The failure is then counted.
   */
  leavesInSilence(nowUs: number): string | null {
    if (this.placed === null) return null;
    const replica = this.replica!;
    if (replica.isSilent && this.mayRetry(false)) {
      this.blame(false);
      return 'silent, to requests and to checks';
    }
    const lateness = this.#endpoint.placer.lateness(this.placed, nowUs);
    if (lateness === 'in time' || !this.#mayMove(lateness)) return null;
    // A suspect gets no requests anyway: its breaker stays as it is.
    if (lateness === 'late') this.blame(false);
    this.#host.metrics.replicas.firstByteTimedOut(replica.id);
    return 'no first byte in the expected time';
  }

  /**
   * Whether the request may leave for a trusted replica. The first move from a suspect is allowed even when the budget is used up:
   * the suspect does nothing for the request, so that no work is added.
   */
  #mayMove(lateness: Lateness): boolean {
    const { budget, config } = this.#host;
    const { model, pinnedTo } = this.#facts;
    if (this.tried.length >= config.retries.most || pinnedTo !== '') return false;
    if (!this.#endpoint.hasTrusted(model, this.tried, this.replica!)) return false;
    return budget.spend() || (lateness === 'suspect' && this.tried.length === 0);
  }

  /**
   * Counts the failure against the replica.
   * @param responded it responded with an error status; else it broke off or took too long
   */
  blame(responded: boolean): void {
    const { placer } = this.#endpoint;
    const replica = this.replica!;
    if (responded && !placer.suspects.blames(this.#body, replica.id, this.#nowMs)) return;
    const wasOpen = replica.breaker.isOpen;
    placer.failed(this.placed!);
    this.#noteOpened(replica, wasOpen);
  }

  /** The first byte of the response body has arrived. */
  firstByte(): void {
    const { breaker } = this.replica!;
    this.#endpoint.placer.firstToken(this.placed!, this.#record.status < 400);
    if (breaker.isOpen && this.#record.status < 400) breaker.responded(this.placed!.request);
  }

  /** The response is complete. */
  ended(status: number): void {
    if (status === RATE_LIMITED || (status === FAILED && this.#isPoison)) return;
    if (status >= FAILED) this.blame(true);
    else this.#endpoint.placer.succeeded(this.placed!, this.#body);
  }

  /** The request has ended: it is on no replica any more, and no other one will return 500 for it. */
  end(): void {
    this.leave();
    this.#settleDoubt();
  }

  /** Releases the request from its replica, if it is on one. */
  leave(): void {
    if (this.placed === null) return;
    const { placed } = this;
    this.placed = null;
    this.#endpoint.placer.finish(placed, this.#record.outputTokens);
  }

  /**
   * Leaves the present replica. Returns the pause before the next attempt in milliseconds, which grows with every
   * attempt.
   * @param hasBroken it broke off: replicas on its host may be about to
   */
  giveUp(cause: string, hasBroken: boolean): number {
    const { config, metrics } = this.#host;
    const record = this.#record;
    const { dispatchedUs, failedAttempts, replicaId } = record;
    this.leave();
    this.tried = [...this.tried, this.replica!];
    if (hasBroken && this.replica!.external === null) this.#brokenHosts = [...this.#brokenHosts, this.replica!.host];
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

  get #nowMs(): number {
    return this.#host.nowUs() / 1000;
  }

  #pause(retryAfter: string | undefined): void {
    const pauseMs = retryAfterMs(retryAfter, Date.now());
    if (pauseMs > 0) this.replica!.pausedUntilMs = Math.max(this.replica!.pausedUntilMs, this.#nowMs + pauseMs);
  }

  /** Whether this 500 is the second for these bytes, of this request or of one before. */
  #drewAnother500(): boolean {
    const { suspects } = this.#endpoint.placer;
    const first = this.#doubted;
    if (first === null) this.#isPoison = suspects.isPoison(this.#body, this.#nowMs);
    else {
      this.#isPoison = true;
      this.#doubted = null;
      suspects.condemn(this.#body, this.#nowMs);
      if (this.#wasProbe) first.breaker.halfOpen();
    }
    return this.#isPoison;
  }

  /** A failed probe counts at once: the next one waits. */
  #doubt(): void {
    const replica = this.replica!;
    this.#doubted = replica;
    this.#wasProbe = replica.breaker.isProbe(this.placed!.request);
    if (this.#wasProbe) this.#endpoint.placer.failed(this.placed!);
  }

  #settleDoubt(): void {
    const replica = this.#doubted;
    if (replica === null) return;
    this.#doubted = null;
    const wasOpen = replica.breaker.isOpen;
    this.#endpoint.placer.failedBefore(replica);
    this.#noteOpened(replica, wasOpen);
  }

  #noteOpened({ breaker, id }: LiveReplica, wasOpen: boolean): void {
    if (!wasOpen && breaker.isOpen) this.#host.metrics.replicas.breakerOpened(id);
  }

  /** Latencies of external APIs, and of requests without output, say nothing about an engine. */
  #sample({ replica, request }: PlacedRequest): void {
    const record = this.#record;
    const endpoint = this.#endpoint;
    const isGenerated = API_KINDS[record.kind].counts === 'input and output';
    const isObserved = replica.external === null && isGenerated;
    record.sampler = isObserved ? this.#host.observed.of(endpoint.name, replica.engineKey) : null;
    record.inFlightBefore = replica.active - 1;
    const { prediction } = endpoint.placer;
    record.predictedTtftUs = prediction.plainTtftUsOf(request);
    record.predictedItlUs = prediction.plainItlUsOf(request);
  }

  /** The prompt measured last must be this request's. */
  #noteBlocks(recorder: TrafficRecorder): void {
    const { blockSize, prompt } = this.#endpoint;
    this.#record.blockSize = blockSize;
    this.#record.recordedBlocks = recorder.blocksOf(prompt.blockWords, prompt.blockCount);
  }
}
