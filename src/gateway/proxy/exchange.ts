import { ApiError } from '../../protocol/errors.js';
import type { Refusal } from '../access/limits/refusal.js';
import type { Reservation, Reserving } from '../access/limits/reservation.js';
import type { GatewayConfig } from '../config/gateway-config.js';
import { internalError, upstreamTimeout } from '../errors.js';
import type { Endpoint } from '../fleet/endpoint/endpoint.js';
import type { PlacedRequest } from '../fleet/endpoint/placer.js';
import type { AwaitingReplica } from '../fleet/endpoint/ready-line.js';
import type { LiveReplica } from '../fleet/replica/live-replica.js';
import type { RequestFacts } from '../request/request-facts.js';
import { type Outcome, RequestRecord } from '../request/request-record.js';
import { LOAD_HEADER, LOAD_REQUEST } from '../signals/load-header.js';
import type { TraceContext } from '../telemetry/tracing/trace-context.js';
import { Attempts } from './attempts.js';
import { ClientResponse, type ResponseOwner } from './client-response.js';
import type { ExchangeHost, ExchangeParts } from './exchange-host.js';
import { clientHeaders, headerValue, upstreamHeaders } from './headers.js';
import { Settlement } from './settlement.js';
import { upstreamFailure } from './upstream-failure.js';

/** The id of a stored response is among the first bytes. */
const MOST_BEFORE_ID = 8192;
/** As in nginx: the client disconnected before the response began. */
const CLIENT_LEFT = 499;

/**
 * One request from its arrival to its end: it is booked on its key's accounts, waits in the queue, is sent to a
 * replica, and to another one while the client has not received a byte. However it ends, everything it holds is
 * released exactly once.
 */
export class Exchange implements AwaitingReplica, Reserving, ResponseOwner {
  readonly facts: RequestFacts;
  readonly endpoint: Endpoint;
  readonly record: RequestRecord;
  /** Its index in the list of those under way, and in the queue. */
  place = -1;
  queueSlot = -1;
  hasEnded = false;
  error: ApiError | null = null;
  readonly #host: ExchangeHost;
  readonly #parts: ExchangeParts;
  readonly #headers: string[];
  readonly #attempts: Attempts;
  readonly #response: ClientResponse;
  readonly settlement: Settlement;
  /**
   * A field, not a closure of the constructor: V8 keeps the closure's context alive long enough to promote every
   * request body.
   */
  readonly #clientLeft = (): void => {
    if (!this.hasEnded) this.#end('client_left', 'the client left');
  };
  #retryTimer: NodeJS.Timeout | null = null;
  #lastPieceUs = 0;
  /** The row of its endpoint in the histogram of the time between pieces. */
  #gapRow = -1;

  constructor(host: ExchangeHost, endpoint: Endpoint, facts: RequestFacts, parts: ExchangeParts) {
    this.facts = facts;
    this.endpoint = endpoint;
    this.record = new RequestRecord(facts, endpoint, host.nowUs());
    this.#host = host;
    this.#parts = parts;
    this.#headers = upstreamHeaders(parts.request, facts.id, parts.trace);
    this.#attempts = new Attempts(host, endpoint, facts, this.record, parts.body);
    this.#response = new ClientResponse(parts.response, this, host.meters, parts.strips);
    this.settlement = new Settlement(host, this.record, this.#response);
    parts.response.onClose = this.#clientLeft;
  }

  get trace(): TraceContext | null {
    return this.#parts.trace;
  }

  /** The client's address. */
  get client(): string {
    return this.#parts.request.address;
  }

  get queuedUs(): number {
    return this.record.queuedUs;
  }

  /** Replicas that have failed it. */
  get tried(): readonly LiveReplica[] {
    return this.#attempts.tried;
  }

  /** The client does not keep up: reading from the replica is paused. */
  get isHeld(): boolean {
    return this.#response.isBehind;
  }

  start(): void {
    const { facts } = this;
    const { budget, exchanges, services } = this.#host;
    const { key } = this.#parts;
    exchanges.add(this);
    budget.requests++;
    if (key === null) {
      this.endpoint.flow.enter(this);
      return;
    }
    try {
      services.access!.reserve(key, facts.model, this.endpoint.look.tokensOf(facts), facts.mostOutput, this);
    } catch (error) {
      this.#thrown(error);
    }
  }

  /** Ends it because the total timeout has expired. A replica that has sent something is only slow, not failed. */
  timeOut(): void {
    if (!this.hasEnded) this.#giveUp('complete response', this.#response.bytes === 0);
  }

  /** Applies the timeouts; called every `everyMs`. */
  check(nowUs: number, everyMs: number, timeouts: GatewayConfig['timeouts']): void {
    if (this.hasEnded) return;
    if (nowUs - this.record.arrivedUs >= timeouts.totalMs * 1000) {
      this.timeOut();
      return;
    }
    const cause = this.#response.bytes === 0 ? this.#attempts.leavesInSilence(nowUs) : null;
    const missing = cause === null ? this.#response.overdue(everyMs, timeouts) : null;
    if (cause !== null) this.#leave(cause);
    else if (missing === null) return;
    else if (!this.#response.hasBegun && this.#attempts.mayRetry(false)) {
      this.#attempts.blame(false);
      this.#leave(`no ${missing} in time`);
    } else this.#giveUp(missing, true);
  }

  // Called by the accounts, the queue and the line for replicas.

  reserved(reservation: Reservation | null, refusal: Refusal | null): void {
    if (this.hasEnded) {
      if (reservation !== null) this.#host.services.access!.refund(reservation);
      return;
    }
    this.settlement.reservation = reservation;
    if (refusal === null) this.endpoint.flow.enter(this);
    else this.#fail(refusal, 'refused', 'over a limit');
  }

  mayGo(queuedUs: number): void {
    this.record.queuedUs = queuedUs;
    this.#try(true);
  }

  refused(error: ApiError, cause: string, queuedUs: number): void {
    this.record.queuedUs = queuedUs;
    this.#fail(error, 'refused', cause);
  }

  waitExpired(): void {
    this.#try(false);
  }

  // Called by the response.

  responseBegins(status: number, raw: string[]): string[] | null {
    const attempts = this.#attempts;
    if (attempts.leavesFor(status, raw)) {
      this.#response.detach(true);
      this.#retry(`status ${status}`);
      return null;
    }
    const replica = attempts.replica!;
    this.record.status = status;
    const load = headerValue(raw, LOAD_HEADER);
    if (load !== undefined) this.endpoint.reportLoad(replica, load);
    if (this.#host.isDraining) this.#response.closeAfter();
    return clientHeaders(raw, this.record, replica.headerId, this.settlement.reservation);
  }

  pieceArrives(isFirst: boolean, piece: Buffer): void {
    const { endpoint, record } = this;
    if (record.kind === 'responses' && this.#response.bytes < MOST_BEFORE_ID) this.#host.responses.learn(piece, record);
    if (isFirst) this.#attempts.firstByte();
    if (!record.isStreamed) return;
    const { metrics } = this.#host;
    const nowUs = this.#host.nowUs();
    if (record.firstTokenUs < 0) {
      record.firstTokenUs = nowUs;
      this.#gapRow = metrics.endpointIndex(endpoint.name);
    } else metrics.observeGap(this.#gapRow, nowUs - this.#lastPieceUs);
    this.#lastPieceUs = nowUs;
    this.#attempts.replica!.heardUs = nowUs;
  }

  usageIsKnown(): void {
    if (!this.hasEnded) this.settlement.noteEarly();
  }

  responseEnds(): void {
    const { status } = this.record;
    this.#attempts.ended(status);
    if (status < 400) this.#end('ok', '');
    else if (status < 500) this.#end('client_error', 'refused by the replica');
    else this.#end('upstream_error', 'failed by the replica');
  }

  responseBreaks(error: Error & { code?: string }): void {
    const attempts = this.#attempts;
    const failure = upstreamFailure(attempts.replica!.id, error);
    if (failure.isReplicas) attempts.blame(false);
    const hasBroken = failure.error.status !== 504 && (failure.isReplicas || error.code === 'UPSTREAM_CLOSED');
    if (!this.#response.hasBegun && attempts.mayRetry(hasBroken)) this.#retry(failure.cause, hasBroken);
    else this.#fail(failure.error, failure.error.status === 504 ? 'timeout' : 'upstream_error', failure.cause);
  }

  /** @param mayWait whether it may wait briefly where a replica is expected */
  #try(mayWait: boolean): void {
    const { endpoint, facts } = this;
    try {
      const placed = this.#attempts.next();
      if (placed !== null) this.#send(placed);
      else if (!mayWait || !endpoint.awaitReplica(this)) {
        this.#fail(endpoint.noReplicaError(facts.model), 'no_replica', 'no replica can take it');
      }
    } catch (error) {
      this.#thrown(error);
    }
  }

  #send(placed: PlacedRequest): void {
    const { body, path, request } = this.#parts;
    const { pool, tellsLoad } = placed.replica;
    if (tellsLoad && this.record.attempts === 1) this.#headers.push(...LOAD_REQUEST);
    const upstream = pool.dispatch({ path, method: request.method, headers: this.#headers, body }, this.#response);
    // It may have failed synchronously.
    if (this.#attempts.placed === placed) this.#response.upstream = upstream;
  }

  /** Leaves this replica and tries another after a pause. */
  #retry(cause: string, hasBroken = false): void {
    const pauseMs = this.#attempts.giveUp(cause, hasBroken);
    this.#response.restart();
    this.#retryTimer = setTimeout(() => this.#try(true), pauseMs);
  }

  #leave(cause: string): void {
    this.#response.detach(true);
    this.#retry(cause);
  }

  #giveUp(what: string, isBlamed: boolean): void {
    const { placed, replica } = this.#attempts;
    if (isBlamed && placed !== null) this.#attempts.blame(false);
    this.#fail(upstreamTimeout(replica?.id ?? '', what), 'timeout', `no ${what} in time`);
  }

  /** A malformed request, or a bug. */
  #thrown(error: unknown): void {
    const { refusal } = this.endpoint.placer;
    if (refusal !== null && error instanceof ApiError) this.#fail(error, 'refused', refusal);
    else if (error instanceof ApiError) this.#fail(error, 'client_error', 'malformed');
    else {
      this.#host.fault(error);
      this.#fail(internalError(), 'fault', 'fault of the gateway');
    }
  }

  #fail(error: ApiError, outcome: Outcome, cause: string): void {
    if (this.hasEnded) return;
    this.error = error;
    if (this.#host.isDraining) this.#response.closeAfter();
    this.#end(outcome, cause);
  }

  #end(outcome: Outcome, cause: string): void {
    const { error, record } = this;
    const host = this.#host;
    this.hasEnded = true;
    record.outcome = outcome;
    record.cause = cause;
    record.endedUs = host.nowUs();
    this.#parts.response.onClose = null;
    this.#stopWaiting();
    this.#parts.release();
    this.#response.detach(outcome !== 'ok');
    this.settlement.count(outcome === 'ok' || outcome === 'client_error');
    if (error !== null && !this.#response.hasBegun) record.status = error.status;
    else if (outcome === 'client_left' && !this.#response.hasBegun) record.status = CLIENT_LEFT;
    this.#attempts.end();
    this.settlement.settle();
    const isKeptOut = outcome === 'refused' || outcome === 'no_replica';
    const { recorder } = host.services;
    if (recorder !== null && isKeptOut) this.#attempts.notePrompt(recorder);
    host.ended(this);
    this.settlement.note();
  }

  #stopWaiting(): void {
    if (this.queueSlot >= 0) this.record.queuedUs = this.endpoint.flow.leave(this);
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    if (this.#attempts.placed === null) this.endpoint.stopAwaiting(this);
  }
}
