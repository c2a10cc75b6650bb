import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../../protocol/errors.js';
import { tokensOfBytes } from '../../protocol/token-estimate.js';
import type { AccessKey } from '../access/access-key.js';
import { appendLimitHeaders } from '../access/limit-headers.js';
import type { Refusal } from '../access/refusal.js';
import type { Reservation, Reserving } from '../access/reservation.js';
import { internalError, noReplica, upstreamTimeout } from '../errors.js';
import type { Endpoint, Placement } from '../fleet/endpoint.js';
import { isUpstreamsOwn } from '../fleet/external-api.js';
import type { LiveReplica } from '../fleet/live-replica.js';
import type { Hoping } from '../fleet/ready-line.js';
import type { GatewayConfig } from '../gateway-config.js';
import { answerForm } from '../metering/answer-form.js';
import type { AnswerMeter } from '../metering/answer-meter.js';
import type { Journalled } from '../metering/commit-turn.js';
import type { TrafficRecorder } from '../recording/traffic-recorder.js';
import type { RequestFacts } from '../request/request-facts.js';
import { LOAD_HEADER, LOAD_REQUEST } from '../signals/load-header.js';
import type { TraceContext } from '../telemetry/tracing/trace-context.js';
import type { UpstreamHandler, UpstreamRequest } from '../upstream/upstream-request.js';
import { ClientAnswer } from './client-answer.js';
import type { ExchangeHost, Outcome } from './exchange-host.js';
import { decisionHeader, downstreamHeaders, headerOf, upstreamHeaders } from './headers.js';
import { RequestRecord } from './request-record.js';
import { upstreamFailure } from './upstream-failure.js';

/** Answers of a replica that another replica may better. */
const WORTH_ANOTHER_TRY = new Set([502, 503, 504]);
/** As nginx calls it: nobody was there any more to be told anything. */
const CLIENT_LEFT = 499;

export interface ExchangeParts {
  request: IncomingMessage;
  response: ServerResponse;
  path: string;
  body: Buffer;
  /** The usage at the end of the stream was asked for by the gateway: the client does not get it. */
  strips: boolean;
  /** Null where no keys are asked for. */
  key: AccessKey | null;
  /** Null where nobody traces it. */
  trace: TraceContext | null;
}

/**
 * One request on its way: books it on its key's accounts, waits its turn, chooses a replica, sends it there, passes the answer
 * on with back-pressure and reads its tokens beside it, tries another replica while the client has not got a byte, and gives
 * everything back exactly once, however it ends. The last bytes of an answer go out when what it used is noted.
 * It is the handler of its own upstream request, so that nothing is allocated per piece.
 */
export class Exchange extends RequestRecord implements Hoping, Reserving, UpstreamHandler, Journalled {
  /** Where it stands in the list of those under way, and in the queue. */
  place = -1;
  queueSlot = -1;
  readonly #host: ExchangeHost;
  readonly #parts: ExchangeParts;
  readonly #answer: ClientAnswer;
  readonly #headers: string[];
  readonly #tried: LiveReplica[] = [];
  #reservation: Reservation | null = null;
  #placement: Placement | null = null;
  #upstream: UpstreamRequest | null = null;
  #meter: AnswerMeter | null = null;
  #retryTimer: NodeJS.Timeout | null = null;
  /** What the client is told instead of an answer, or in the middle of one. */
  #error: ApiError | null = null;
  #bytes = 0;
  #lastPieceUs = 0;
  #gaps = -1;
  /** How often `check` has looked since something came. */
  #looks = 0;
  /** What it used has been noted, and cannot be lost any more. */
  #isNoted = false;
  #isSafe = false;
  #ended = false;

  constructor(host: ExchangeHost, endpoint: Endpoint, facts: RequestFacts, parts: ExchangeParts) {
    super(facts, endpoint, host.nowUs());
    this.#host = host;
    this.#parts = parts;
    this.#answer = new ClientAnswer(parts.response);
    this.#headers = upstreamHeaders(parts.request.rawHeaders, facts.id, parts.trace);
    parts.response.on('close', this.#clientClosed);
  }

  get trace(): TraceContext | null {
    return this.#parts.trace;
  }

  /** The client's address. */
  get client(): string {
    return this.#parts.request.socket.remoteAddress ?? '';
  }

  start(): void {
    const { access, budget } = this.#host;
    const { key } = this.#parts;
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

  /** Replicas that had their chance. */
  get tried(): readonly LiveReplica[] {
    return this.#tried;
  }

  /** The client does not keep up: the replica waits for it. */
  get isHeld(): boolean {
    return this.#answer.isBehind;
  }

  /** The time for the whole request is up. Whoever has answered something so far is merely slow. */
  timeOut(): void {
    if (!this.#ended) this.#giveUp('complete answer', this.#bytes === 0);
  }

  /**
   * Looks after the time, every so many milliseconds, so that no timer has to run for every piece. The wait for headers is not
   * watched here but by the connection, and the time that a slow client takes is not the replica's.
   */
  check(nowUs: number, everyMs: number, { firstByteMs, idleMs, totalMs }: GatewayConfig['timeouts']): void {
    if (this.#ended) return;
    // Of requests sent ahead on one connection only the first hears that it was closed.
    if (this.#parts.request.socket.destroyed) this.#clientClosed();
    else if (nowUs - this.arrivedUs >= totalMs * 1000) this.timeOut();
    else if (this.status === 0 || this.isHeld) this.#looks = 0;
    else {
      const isFirst = this.isStreamed && this.#bytes === 0;
      if (this.#looks++ * everyMs >= (isFirst ? firstByteMs : idleMs)) {
        this.#giveUp(isFirst ? 'first byte' : 'further byte', true);
      }
    }
  }

  // What the accounts, the queue and those who wait for replicas call.

  reserved(reservation: Reservation | null, refusal: Refusal | null): void {
    if (this.#ended) {
      if (reservation !== null) this.#host.access!.refund(reservation);
      return;
    }
    this.#reservation = reservation;
    if (refusal === null) this.endpoint.flow.enter(this);
    else this.#fail(refusal, 'refused', 'over a limit');
  }

  mayGo(queuedUs: number): void {
    this.queuedUs = queuedUs;
    this.#try(true);
  }

  refused(error: ApiError, cause: string, queuedUs: number): void {
    this.queuedUs = queuedUs;
    this.#fail(error, 'refused', cause);
  }

  nobodyCame(): void {
    this.#try(false);
  }

  // What the connection to the replica calls.

  onHeaders(status: number, raw: string[]): void {
    const isWorth = this.replica!.external === null ? WORTH_ANOTHER_TRY.has(status) : isUpstreamsOwn(status);
    if (isWorth && this.#mayRetry(false)) {
      this.#upstream!.abort();
      this.#blame(true);
      this.#retry(`status ${status}`);
      return;
    }
    this.status = status;
    const headers = downstreamHeaders(raw);
    const form = answerForm(raw);
    this.isStreamed = form === 'events';
    this.#meter!.begin(form, this.#parts.strips && this.isStreamed);
    const load = headerOf(raw, LOAD_HEADER);
    if (load !== undefined) this.endpoint.reportLoad(this.replica!, load);
    headers.push('x-request-id', this.facts.id, 'x-twinyard-replica', this.replica!.headerId);
    headers.push('x-twinyard-decision', decisionHeader(this.policy, this.rule));
    if (this.#reservation !== null) appendLimitHeaders(headers, this.#reservation);
    if (this.#host.isDraining) this.#answer.closeAfter();
    this.#answer.begin(status, headers, this.isStreamed);
  }

  onData(piece: Buffer, isLast: boolean): boolean {
    if (this.#ended) return true;
    this.#looks = 0;
    if (this.#bytes === 0) this.endpoint.firstToken(this.#placement!);
    this.#bytes += piece.length;
    if (this.isStreamed) this.#time();
    const meter = this.#meter!;
    const out = meter.piece(piece);
    if (!this.#isSafe && (isLast || meter.isSettled)) {
      // The end of the answer comes with it, as a rule; if it does not, nobody is kept waiting.
      if (!isLast && !this.#answer.isHeld) setImmediate(noteEarly, this);
      this.#answer.hold(out);
      return true;
    }
    return out.length === 0 || this.#answer.write(out, this.#drained);
  }

  onComplete(): void {
    if (this.#ended) return;
    if (this.status >= 500) this.#blame(true);
    else this.endpoint.succeeded(this.#placement!, this.facts);
    this.#answer.hold(this.#meter!.rest());
    const { status } = this;
    if (status < 400) this.#end('ok', '');
    else if (status < 500) this.#end('client_error', 'refused by the replica');
    else this.#end('upstream_error', 'failed by the replica');
  }

  onError(error: Error & { code?: string }): void {
    if (this.#ended) return;
    const failure = upstreamFailure(this.replica!.id, error);
    if (failure.isReplicas) this.#blame(false);
    const hasBroken = failure.error.status !== 504 && (failure.isReplicas || error.code === 'UPSTREAM_CLOSED');
    if (!this.#answer.hasBegun && this.#mayRetry(hasBroken)) this.#retry(failure.cause);
    else this.#fail(failure.error, failure.error.status === 504 ? 'timeout' : 'upstream_error', failure.cause);
  }

  /** What it used is noted: the client gets what was held back for that. */
  journalled(): void {
    this.#isSafe = true;
    if (!this.#ended) {
      this.#answer.release();
      return;
    }
    const meter = this.#meter;
    this.#meter = null;
    if (this.#error !== null) this.#answer.fail(this.#error, this.facts.id, meter?.isInsideEvent === true);
    else if (this.outcome !== 'client_left') this.#answer.end();
    if (meter !== null) this.#host.meters.give(meter);
  }

  /** The answer has settled without ending. */
  noteEarly(): void {
    if (this.#ended || this.#isNoted) return;
    this.endedUs = this.#host.nowUs();
    this.#count(true);
    this.#note();
  }

  /** @param mayWait for a replica, where one may come in a moment */
  #try(mayWait: boolean): void {
    const { endpoint, facts } = this;
    try {
      const placement = endpoint.place(facts, this.#tried.length, this.#tried);
      if (placement !== null) this.#send(placement);
      else if (!mayWait || !endpoint.awaitReplica(this)) {
        this.#fail(noReplica(facts.model, endpoint.lastRemovals), 'no_replica', 'no replica can take it');
      }
    } catch (error) {
      this.#thrown(error);
    }
  }

  #send(placement: Placement): void {
    const { endpoint } = this;
    const { metrics, recorder } = this.#host;
    const { body, path, request } = this.#parts;
    this.#placement = placement;
    this.replica = placement.replica;
    this.policy = endpoint.policy.name;
    this.rule = endpoint.lastRule;
    this.attempts++;
    this.dispatchedUs = this.#host.nowUs();
    this.#meter ??= this.#host.meters.take();
    metrics.decided(endpoint.name, this.policy);
    if (recorder !== null && this.attempts === 1) this.#noteBlocks(recorder);
    if (placement.replica.tellsLoad && this.attempts === 1) this.#headers.push(...LOAD_REQUEST);
    const upstream = placement.replica.pool.dispatch(
      { path, method: request.method!, headers: this.#headers, body },
      this,
    );
    // It may have failed before it began.
    if (this.#placement === placement) this.#upstream = upstream;
  }

  /** The prompt that was measured last is this request's. */
  #noteBlocks(recorder: TrafficRecorder): void {
    const { blockSize, prompt } = this.endpoint;
    this.blockSize = blockSize;
    this.recordedBlocks = recorder.blocksOf(prompt.blockWords, prompt.blockCount);
  }

  /** What was kept out has come all the same: with other limits it might get in. */
  #noteKeptOut(recorder: TrafficRecorder): void {
    if (this.recordedBlocks !== '') return;
    try {
      this.endpoint.tokensOf(this.facts);
      this.#noteBlocks(recorder);
    } catch {
      // A prompt that cannot be measured is recorded without its blocks.
    }
  }

  /** A request that is not worth a decision, or a bug. */
  #thrown(error: unknown): void {
    if (error instanceof ApiError) this.#fail(error, 'client_error', 'malformed');
    else {
      this.#host.fault(error);
      this.#fail(internalError(), 'fault', 'fault of the gateway');
    }
  }

  /** The client has caught up. */
  readonly #drained = (): void => this.#upstream?.resume();

  /** A piece of a stream has come. */
  #time(): void {
    const nowUs = this.#host.nowUs();
    const { metrics } = this.#host;
    if (this.firstTokenUs < 0) {
      this.firstTokenUs = nowUs;
      this.#gaps = metrics.endpointIndex(this.endpoint.name);
    } else metrics.observeGap(this.#gaps, nowUs - this.#lastPieceUs);
    this.#lastPieceUs = nowUs;
  }

  /**
   * Whether there is time, somebody else and leave to try once more.
   * @param hasBroken the replica broke off: where another may be on its way in its place, that is somebody else
   */
  #mayRetry(hasBroken: boolean): boolean {
    const { budget, retries } = this.#host;
    if (this.#tried.length >= retries.most) return false;
    const { endpoint, facts } = this;
    const isAwaited = hasBroken && endpoint.isAwaited && this.replica!.external === null;
    return (isAwaited || endpoint.hasOther(facts.model, this.#tried, this.replica!)) && budget.spend();
  }

  /** The replica failed this request, by its answer or without one. */
  #blame(answered: boolean): void {
    const { breaker, id } = this.replica!;
    const wasOpen = breaker.isOpen;
    this.endpoint.failed(this.#placement!, this.facts, answered);
    if (!wasOpen && breaker.isOpen) this.#host.metrics.breakerOpened(id);
  }

  #giveUp(what: string, blamed: boolean): void {
    if (blamed && this.#placement !== null) this.#blame(false);
    this.#fail(upstreamTimeout(this.replica?.id ?? '', what), 'timeout', `no ${what} in time`);
  }

  /** Gives this replica up and, after a pause that grows, asks for another. */
  #retry(cause: string): void {
    const host = this.#host;
    this.#finish();
    this.#tried.push(this.replica!);
    this.noteFailedTry(cause, host.nowUs());
    this.#answer.forget();
    this.isStreamed = false;
    this.#looks = 0;
    this.status = 0;
    host.metrics.retries++;
    const pause = host.retries.backoffMs * 2 ** (this.#tried.length - 1) * (0.5 + host.jitter() / 2);
    this.#retryTimer = setTimeout(() => this.#try(true), pause);
  }

  /** Ends with an error: as an answer, or as the last event of a stream that has begun. */
  #fail(error: ApiError, outcome: Outcome, cause: string): void {
    if (this.#ended) return;
    this.#error = error;
    if (this.#host.isDraining) this.#answer.closeAfter();
    this.#end(outcome, cause);
  }

  readonly #clientClosed = (): void => {
    if (!this.#ended) this.#end('client_left', 'the client left');
  };

  #end(outcome: Outcome, cause: string): void {
    const host = this.#host;
    this.#ended = true;
    this.outcome = outcome;
    this.cause = cause;
    this.endedUs = host.nowUs();
    this.#parts.response.off('close', this.#clientClosed);
    if (this.queueSlot >= 0) this.queuedUs = this.endpoint.flow.leave(this);
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    if (this.#placement === null) this.endpoint.stopAwaiting(this);
    if (outcome !== 'ok') this.#upstream?.abort();
    if (!this.#isNoted) this.#count(outcome === 'ok' || outcome === 'client_error');
    if (this.#error !== null && !this.#answer.hasBegun) this.status = this.#error.status;
    else if (this.status === 0) this.status = CLIENT_LEFT;
    this.#finish();
    this.#settle();
    if (host.recorder !== null && (outcome === 'refused' || outcome === 'no_replica')) this.#noteKeptOut(host.recorder);
    host.ended(this);
    if (!this.#isNoted) this.#note();
    else if (this.#isSafe) this.journalled();
  }

  /** How many tokens it used: what the engine says, else what was seen. A request that was refused or failed used none. */
  #count(isWhole: boolean): void {
    const meter = this.#meter;
    if (meter === null) return;
    const hasWorked = this.#bytes > 0 ? this.status < 400 : this.outcome === 'client_left' && this.attempts > 0;
    if (!hasWorked) return;
    const bytesOut = this.facts.mostOutput === 0 ? 0 : this.#bytes;
    meter.finish(isWhole, this.facts.inputTokens, tokensOfBytes(bytesOut));
    this.inputTokens = meter.inputTokens;
    this.cachedTokens = meter.cachedTokens;
    this.outputTokens = meter.outputTokens;
    this.reasoningTokens = meter.reasoningTokens;
    this.isMetered = meter.isMetered;
  }

  #note(): void {
    this.#isNoted = true;
    this.#host.note(this);
  }

  /** Corrects what was booked on the key's accounts by what it came to; nothing, if nobody served it. */
  #settle(): void {
    const reservation = this.#reservation;
    if (reservation === null) return;
    this.#reservation = null;
    const isServed = this.#bytes > 0 || this.inputTokens > 0;
    if (isServed) this.#host.access!.settle(reservation, this);
    else this.#host.access!.refund(reservation);
  }

  #finish(): void {
    this.#upstream = null;
    if (this.#placement === null) return;
    const placement = this.#placement;
    this.#placement = null;
    this.endpoint.finish(placement);
  }
}

function noteEarly(exchange: Exchange): void {
  exchange.noteEarly();
}
