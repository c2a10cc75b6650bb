import { ApiError } from '../../protocol/errors.js';
import type { Refusal } from '../access/refusal.js';
import type { Reservation, Reserving } from '../access/reservation.js';
import type { GatewayConfig } from '../config/gateway-config.js';
import { internalError, noReplica, upstreamTimeout } from '../errors.js';
import type { Endpoint, Placement } from '../fleet/endpoint.js';
import type { Hoping } from '../fleet/ready-line.js';
import type { RequestFacts } from '../request/request-facts.js';
import { LOAD_HEADER, LOAD_REQUEST } from '../signals/load-header.js';
import { EndingExchange } from './ending-exchange.js';
import type { ExchangeHost } from './exchange-host.js';
import type { ExchangeParts } from './exchange-parts.js';
import { headerOf, upstreamHeaders } from './headers.js';
import { type Answered, PassedResponse } from './passed-response.js';
import { responseHeaders } from './response-headers.js';
import { upstreamFailure } from './upstream-failure.js';

/**
 * One request on its way from station to station: books it on its key's accounts, waits its turn, goes to a replica, has the
 * answer passed on, and tries another replica while the client has not got a byte.
 */
export class Exchange extends EndingExchange implements Hoping, Reserving, Answered {
  /** Where it stands in the list of those under way, and in the queue. */
  place = -1;
  queueSlot = -1;
  protected readonly answer: PassedResponse;
  readonly #headers: string[];
  #retryTimer: NodeJS.Timeout | null = null;

  constructor(host: ExchangeHost, endpoint: Endpoint, facts: RequestFacts, parts: ExchangeParts) {
    super(host, endpoint, facts, parts);
    this.answer = new PassedResponse(parts.response, this, parts.strips);
    this.#headers = upstreamHeaders(parts.request.rawHeaders, facts.id, parts.trace);
  }

  start(): void {
    const { access, budget } = this.host;
    const { key } = this.parts;
    budget.request();
    if (key === null) {
      this.endpoint.flow.enter(this);
      return;
    }
    const { facts } = this;
    try {
      access!.reserve(key, facts.model, this.endpoint.tokensOf(facts), facts.mostOutput, this);
    } catch (error) {
      this.#thrown(error);
    }
  }

  /** The client does not keep up: the replica waits for it. */
  get isHeld(): boolean {
    return this.answer.isBehind;
  }

  /** The time for the whole request is up. Whoever has answered something so far is merely slow. */
  timeOut(): void {
    if (!this.hasEnded) this.#giveUp('complete answer', this.answer.bytes === 0);
  }

  /** Looks after the time, every so many milliseconds. */
  check(nowUs: number, everyMs: number, timeouts: GatewayConfig['timeouts']): void {
    if (this.hasEnded) return;
    if (nowUs - this.arrivedUs >= timeouts.totalMs * 1000) this.timeOut();
    else if (this.#isStranded && this.mayRetry(false)) this.#leaveStranded();
    else {
      const missing = this.answer.overdue(everyMs, timeouts);
      if (missing !== null) this.#giveUp(missing, true);
    }
  }

  // What the accounts, the queue and those who wait for replicas call.

  reserved(reservation: Reservation | null, refusal: Refusal | null): void {
    if (this.hasEnded) {
      if (reservation !== null) this.host.access!.refund(reservation);
      return;
    }
    this.reservation = reservation;
    if (refusal === null) this.endpoint.flow.enter(this);
    else this.fail(refusal, 'refused', 'over a limit');
  }

  mayGo(queuedUs: number): void {
    this.queuedUs = queuedUs;
    this.#try(true);
  }

  refused(error: ApiError, cause: string, queuedUs: number): void {
    this.queuedUs = queuedUs;
    this.fail(error, 'refused', cause);
  }

  nobodyCame(): void {
    this.#try(false);
  }

  // What becomes of a replica's response.

  responseBegins(status: number, raw: string[]): string[] | null {
    if (this.isWorthAnother(status) && this.mayRetry(false)) {
      this.answer.upstream!.abort();
      this.blame(true);
      this.#retry(`status ${status}`);
      return null;
    }
    this.status = status;
    const load = headerOf(raw, LOAD_HEADER);
    if (load !== undefined) this.endpoint.reportLoad(this.replica!, load);
    if (this.host.isDraining) this.answer.closeAfter();
    return responseHeaders(raw, this, this.reservation);
  }

  pieceComes(isFirst: boolean): void {
    if (isFirst) this.endpoint.firstToken(this.placement!);
    if (this.isStreamed) this.notePiece(this.host.nowUs(), this.host.metrics);
  }

  responseEnds(): void {
    const { status } = this;
    if (status >= 500) this.blame(true);
    else this.endpoint.succeeded(this.placement!, this.facts);
    if (status < 400) this.end('ok', '');
    else if (status < 500) this.end('client_error', 'refused by the replica');
    else this.end('upstream_error', 'failed by the replica');
  }

  responseBreaks(error: Error & { code?: string }): void {
    const failure = upstreamFailure(this.replica!.id, error);
    if (failure.isReplicas) this.blame(false);
    const hasBroken = failure.error.status !== 504 && (failure.isReplicas || error.code === 'UPSTREAM_CLOSED');
    if (!this.answer.hasBegun && this.mayRetry(hasBroken)) this.#retry(failure.cause);
    else this.fail(failure.error, failure.error.status === 504 ? 'timeout' : 'upstream_error', failure.cause);
  }

  /** @param mayWait for a replica, where one may come in a moment */
  #try(mayWait: boolean): void {
    const { endpoint, facts } = this;
    try {
      const placement = this.goToReplica();
      if (placement !== null) this.#send(placement);
      else if (!mayWait || !endpoint.awaitReplica(this)) {
        this.fail(noReplica(facts.model, endpoint.lastRemovals), 'no_replica', 'no replica can take it');
      }
    } catch (error) {
      this.#thrown(error);
    }
  }

  #send(placement: Placement): void {
    const { body, path, request } = this.parts;
    const { answer } = this;
    answer.meter ??= this.host.meters.take();
    if (placement.replica.tellsLoad && this.attempts === 1) this.#headers.push(...LOAD_REQUEST);
    const upstream = placement.replica.pool.dispatch(
      { path, method: request.method, headers: this.#headers, body },
      answer,
    );
    // It may have failed before it began.
    if (this.placement === placement) answer.upstream = upstream;
  }

  /** Gives this replica up and, after a pause that grows, asks for another. */
  #retry(cause: string): void {
    const pauseMs = this.giveReplicaUp(cause);
    this.answer.forget();
    this.#retryTimer = setTimeout(() => this.#try(true), pauseMs);
  }

  /** Its replica says nothing to anybody any more, and has said nothing to this one: it may never do so. */
  get #isStranded(): boolean {
    return this.placement !== null && this.status === 0 && this.replica!.isSilent;
  }

  #leaveStranded(): void {
    this.answer.upstream?.abort();
    this.blame(false);
    this.#retry('silent, to requests and to checks');
  }

  #giveUp(what: string, blamed: boolean): void {
    if (blamed && this.placement !== null) this.blame(false);
    this.fail(upstreamTimeout(this.replica?.id ?? '', what), 'timeout', `no ${what} in time`);
  }

  /** A request that is not worth a decision, or a bug. */
  #thrown(error: unknown): void {
    if (error instanceof ApiError) this.fail(error, 'client_error', 'malformed');
    else {
      this.host.fault(error);
      this.fail(internalError(), 'fault', 'fault of the gateway');
    }
  }

  protected stopWaiting(): void {
    if (this.queueSlot >= 0) this.queuedUs = this.endpoint.flow.leave(this);
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    if (this.placement === null) this.endpoint.stopAwaiting(this);
  }
}
