import type { ApiError } from '../../protocol/errors.js';
import type { Reservation } from '../access/reservation.js';
import type { Endpoint } from '../fleet/endpoint.js';
import type { Journalled } from '../metering/commit-turn.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { TraceContext } from '../telemetry/tracing/trace-context.js';
import type { ExchangeHost, Outcome } from './exchange-host.js';
import type { ExchangeParts } from './exchange-parts.js';
import type { PassedResponse } from './passed-response.js';
import { TriedRequest } from './tried-request.js';

/** As nginx calls it: nobody was there any more to be told anything. */
const CLIENT_LEFT = 499;

/**
 * How an exchange ends, whatever ends it: everything is given back exactly once, what it used is counted, settled with its key's
 * accounts and noted, and the last bytes of its response go out when that is safe.
 */
export abstract class EndingExchange extends TriedRequest implements Journalled {
  hasEnded = false;
  protected readonly parts: ExchangeParts;
  protected abstract readonly answer: PassedResponse;
  /** What is booked for it on its key's accounts. */
  protected reservation: Reservation | null = null;
  /** What the client is told instead of a response, or in the middle of one. */
  #error: ApiError | null = null;
  #isNoted = false;

  constructor(host: ExchangeHost, endpoint: Endpoint, facts: RequestFacts, parts: ExchangeParts) {
    super(host, endpoint, facts);
    this.parts = parts;
    parts.response.onClose = this.clientLeft;
  }

  get trace(): TraceContext | null {
    return this.parts.trace;
  }

  /** What the client was told instead of a response; null if it got one. */
  get error(): ApiError | null {
    return this.#error;
  }

  /** The client's address. */
  get client(): string {
    return this.parts.request.address;
  }

  /** Whatever it waits for, it does so no longer. */
  protected abstract stopWaiting(): void;

  protected readonly clientLeft = (): void => {
    if (!this.hasEnded) this.end('client_left', 'the client left');
  };

  /** Ends with an error: as a response, or as the last event of a stream that has begun. */
  protected fail(error: ApiError, outcome: Outcome, cause: string): void {
    if (this.hasEnded) return;
    this.#error = error;
    if (this.host.isDraining) this.answer.closeAfter();
    this.end(outcome, cause);
  }

  protected end(outcome: Outcome, cause: string): void {
    const { answer, host } = this;
    this.hasEnded = true;
    this.outcome = outcome;
    this.cause = cause;
    this.endedUs = host.nowUs();
    this.parts.response.onClose = null;
    this.stopWaiting();
    if (outcome !== 'ok') answer.upstream?.abort();
    answer.upstream = null;
    if (!this.#isNoted) this.#count(outcome === 'ok' || outcome === 'client_error');
    if (this.#error !== null && !answer.hasBegun) this.status = this.#error.status;
    else if (this.status === 0) this.status = CLIENT_LEFT;
    this.leaveReplica();
    this.#settle();
    if (host.recorder !== null && (outcome === 'refused' || outcome === 'no_replica')) this.noteKeptOut(host.recorder);
    host.ended(this);
    if (!this.#isNoted) this.#note();
    else if (answer.isSafe) this.journalled();
  }

  /** The answer has settled without ending. */
  noteEarly(): void {
    if (this.hasEnded || this.#isNoted) return;
    this.endedUs = this.host.nowUs();
    this.#count(true);
    this.#note();
  }

  /** What it used is noted: the client gets what was held back for that. */
  journalled(): void {
    const { answer } = this;
    answer.isSafe = true;
    if (!this.hasEnded) {
      answer.release();
      return;
    }
    const { meter } = answer;
    answer.meter = null;
    if (this.#error !== null) answer.fail(this.#error, this.facts.id, meter?.isInsideEvent === true);
    else if (this.outcome !== 'client_left') answer.end();
    if (meter !== null) this.host.meters.give(meter);
  }

  #count(isWhole: boolean): void {
    const { bytes, meter } = this.answer;
    if (meter !== null) this.noteUse(meter, bytes, isWhole);
  }

  #note(): void {
    this.#isNoted = true;
    this.host.note(this);
  }

  /** Corrects what was booked by what it came to; nothing, if nobody served it. */
  #settle(): void {
    const { reservation } = this;
    if (reservation === null) return;
    this.reservation = null;
    const isServed = this.answer.bytes > 0 || this.inputTokens > 0;
    if (isServed) this.host.access!.settle(reservation, this);
    else this.host.access!.refund(reservation);
  }
}
