import { errorShape } from '../../protocol/endpoints.js';
import { type ApiError, errorJson } from '../../protocol/errors.js';
import type { GatewayConfig } from '../config/gateway-config.js';
import type { HttpResponse } from '../http/http-response.js';
import type { Journalled } from '../metering/commit-turn.js';
import { responseForm } from '../metering/response-form.js';
import type { MeterPool, ResponseMeter } from '../metering/response-meter.js';
import type { RequestRecord } from '../request/request-record.js';
import { bodyNotJson, emptyBody, type UpstreamError } from '../upstream/upstream-error.js';
import type { UpstreamHandler, UpstreamRequest } from '../upstream/upstream-request.js';
import { beginsJson, expectsJson, firstByte, isHtml } from './expected-body.js';
import { headerValue, withoutLength } from './headers.js';
import { sendError } from './send-error.js';

/** The exchange that a response belongs to. */
export interface ResponseOwner {
  readonly record: RequestRecord;
  /** Nothing more of the replica's response is passed on. */
  readonly hasEnded: boolean;
  /** Sent instead of a response, or as the last event of a stream; null where the replica's response is complete. */
  readonly error: ApiError | null;
  /**
   * The replica's headers have arrived. Returns those for the client, or null when another replica is tried instead.
   */
  responseBegins(status: number, raw: string[]): string[] | null;
  pieceArrives(isFirst: boolean, piece: Buffer): void;
  /** The usage is known although the response has not ended. */
  usageIsKnown(): void;
  /** The response is complete; its last bytes are held back. */
  responseEnds(): void;
  responseBreaks(error: Error & { code?: string }): void;
}

/**
 * Passes a response from a replica to the client, piece by piece and with back-pressure, and counts its tokens. Headers
 * are held until the first bytes of the body, so that another replica can be tried while the client has received
 * nothing: engines send the headers of a stream before they read the prompt. The last bytes are held until the usage is
 * recorded. It is the handler of its upstream request, so that a
 * piece allocates nothing.
 */
export class ClientResponse implements UpstreamHandler, Journalled {
  /** The upstream request, while it is under way. */
  upstream: UpstreamRequest | null = null;
  /** Counts the tokens from the replica's headers on, until everything is sent. */
  meter: ResponseMeter | null = null;
  /** Received from the replica. */
  bytes = 0;
  /** The usage is recorded durably. */
  isSafe = false;
  readonly #response: HttpResponse;
  readonly #owner: ResponseOwner;
  readonly #meters: MeterPool;
  /** The gateway requested the usage at the end of the stream: the client does not get it. */
  readonly #strips: boolean;
  /** Status and headers that are not written yet. */
  #status = 0;
  #headers: string[] | null = null;
  #held: Buffer | null = null;
  /** The body has to be JSON, and its first byte has not arrived. */
  #awaitsJson = false;
  /** Its content type says that it is not. */
  #isHtml = false;
  /** Calls of `overdue` since the last piece. */
  #looks = 0;

  constructor(response: HttpResponse, owner: ResponseOwner, meters: MeterPool, strips: boolean) {
    this.#response = response;
    this.#owner = owner;
    this.#meters = meters;
    this.#strips = strips;
  }

  /** The client has received something: the response cannot be replaced any more. */
  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** The client does not keep up. */
  get isBehind(): boolean {
    return this.#response.isBehind;
  }

  onHeaders(status: number, raw: string[]): void {
    const { record } = this.#owner;
    const headers = this.#owner.responseBegins(status, raw);
    if (headers === null) return;
    const form = responseForm(raw);
    record.isStreamed = form === 'events';
    this.meter ??= this.#meters.take();
    this.meter.begin(form, this.#strips && record.isStreamed);
    this.#status = status;
    // A stream's length changes when usage is stripped from it or an error event is added.
    this.#headers = record.isStreamed ? withoutLength(headers) : headers;
    const type = status === 200 && form === 'json' ? headerValue(raw, 'content-type') : undefined;
    this.#awaitsJson = status === 200 && form === 'json' && expectsJson(record.kind, type);
    this.#isHtml = isHtml(type);
  }

  onData(piece: Buffer, isLast: boolean): boolean {
    const owner = this.#owner;
    if (owner.hasEnded) return true;
    this.#looks = 0;
    if (this.#awaitsJson && !this.#mayBeJson(piece)) {
      this.detach(true);
      this.#reject(bodyNotJson());
      return true;
    }
    owner.pieceArrives(this.bytes === 0, piece);
    this.bytes += piece.length;
    const meter = this.meter!;
    const out = meter.piece(piece);
    if (!this.isSafe && (isLast || meter.isSettled)) {
      // The end of the response usually arrives with it; if not, the client must not wait for it.
      if (!isLast && this.#held === null) setImmediate(noteUsage, this);
      this.#hold(out);
      return true;
    }
    return out.length === 0 || this.#write(out);
  }

  onComplete(): void {
    if (this.#owner.hasEnded) return;
    if (this.#awaitsJson || (this.bytes === 0 && this.#status === 200)) {
      this.#reject(emptyBody());
      return;
    }
    this.#hold(this.meter!.rest());
    this.#owner.responseEnds();
  }

  onError(error: Error & { code?: string }): void {
    if (!this.#owner.hasEnded) this.#owner.responseBreaks(error);
  }

  /** Drops what the replica has sent so far: the next attempt starts over. */
  restart(): void {
    this.upstream = null;
    this.bytes = 0;
    this.#headers = null;
    this.#held = null;
    this.#looks = 0;
  }

  /** Releases the upstream request, and aborts it unless its response is complete. */
  detach(isAborted: boolean): void {
    if (isAborted) this.upstream?.abort();
    this.upstream = null;
  }

  /** Closes the client's connection after this response. */
  closeAfter(): void {
    this.#response.shouldKeepAlive = false;
  }

  /**
   * What is overdue; null when nothing is. Called every `everyMs`, so that no timer runs per piece. The connection
   * applies the timeout until the headers, and time spent waiting for a slow client does not count.
   */
  overdue(everyMs: number, { firstByteMs, idleMs }: GatewayConfig['timeouts']): string | null {
    const { isStreamed, status } = this.#owner.record;
    if (status === 0 || this.isBehind) {
      this.#looks = 0;
      return null;
    }
    const isFirst = isStreamed && this.bytes === 0;
    if (this.#looks++ * everyMs < (isFirst ? firstByteMs : idleMs)) return null;
    return isFirst ? 'first byte' : 'further byte';
  }

  /** The usage is recorded: sends what was held back for it and, if the exchange has ended, the end. */
  journalled(): void {
    const { error, hasEnded, record } = this.#owner;
    this.isSafe = true;
    if (!hasEnded) {
      this.#release();
      return;
    }
    const { meter } = this;
    this.meter = null;
    if (error !== null) this.#fail(error, meter?.isInsideEvent === true);
    else if (record.outcome !== 'client_left') this.#end();
    if (meter !== null) this.#meters.give(meter);
  }

  /** A piece held back has shown the usage, and the end of the response has not arrived yet. */
  usageIsKnown(): void {
    if (this.#held !== null) this.#owner.usageIsKnown();
  }

  /** Looks for the first byte of the body. */
  #mayBeJson(piece: Buffer): boolean {
    const byte = firstByte(piece);
    if (byte < 0) return true;
    this.#awaitsJson = false;
    return beginsJson(byte) && !this.#isHtml;
  }

  /** The replica has served nothing. */
  #reject(error: UpstreamError): void {
    this.bytes = 0;
    this.#awaitsJson = false;
    this.#owner.responseBreaks(error);
  }

  #write(piece: Buffer): boolean {
    if (this.#headers !== null) this.#writeHead();
    if (this.#response.write(piece)) return true;
    this.#response.onDrain ??= () => this.upstream?.resume();
    return false;
  }

  #hold(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#held = this.#held === null ? piece : Buffer.concat([this.#held, piece]);
  }

  #release(): void {
    if (this.#held === null) return;
    if (this.#headers !== null) this.#writeHead();
    this.#response.write(this.#held);
    this.#held = null;
  }

  #end(): void {
    const held = this.#held;
    this.#held = null;
    if (this.#headers !== null) this.#writeHead();
    this.#response.end(held);
  }

  /** @param isInsideEvent the client has received a part of an event: that has to end before another begins */
  #fail(error: ApiError, isInsideEvent: boolean): void {
    const response = this.#response;
    const { id, isStreamed, kind } = this.#owner.record;
    const shape = errorShape(kind);
    if (!response.headersSent) sendError(response, error, id, shape);
    else if (isStreamed) {
      this.#release();
      const name = shape === 'anthropic' ? 'event: error\n' : '';
      response.end(`${isInsideEvent ? '\n\n' : ''}${name}data: ${errorJson(error, id, shape)}\n\n`);
    } else {
      // The headers promised a length: only a closed connection shows the client that the rest is missing.
      response.destroy();
    }
  }

  #writeHead(): void {
    this.#response.writeHead(this.#status, this.#headers!);
    this.#headers = null;
  }
}

function noteUsage(response: ClientResponse): void {
  response.usageIsKnown();
}
