import type { GatewayConfig } from '../config/gateway-config.js';
import type { HttpResponse } from '../http/http-response.js';
import { responseForm } from '../metering/response-form.js';
import type { ResponseMeter } from '../metering/response-meter.js';
import type { UpstreamHandler, UpstreamRequest } from '../upstream/upstream-request.js';
import { ClientResponse } from './client-response.js';
import { withoutLength } from './headers.js';

/** Whose answer it is. */
export interface Answered {
  /** What the replica has said so far; 0: nothing. */
  readonly status: number;
  isStreamed: boolean;
  /** Nothing more is to reach the client. */
  readonly hasEnded: boolean;
  /** A replica begins to answer. Returns the headers that the client gets, or null when another replica is asked instead. */
  responseBegins(status: number, raw: string[]): string[] | null;
  pieceComes(isFirst: boolean): void;
  /** What it used is known, though its end has not come: that is to be noted, and `isSafe` set. */
  noteEarly(): void;
  /** All of it is here; the last bytes are held back. */
  responseEnds(): void;
  responseBreaks(error: Error & { code?: string }): void;
}

/**
 * A response on its way from a replica to the client: piece by piece, with back-pressure, its tokens read beside its bytes. What
 * ends it waits until what it used is noted. It is the handler of its own upstream request, so that nothing is allocated per piece.
 */
export class PassedResponse extends ClientResponse implements UpstreamHandler {
  /** What it is the response to, as long as that goes on. */
  upstream: UpstreamRequest | null = null;
  /** There while a replica is asked, and until the end. */
  meter: ResponseMeter | null = null;
  /** How many have come. */
  bytes = 0;
  /** What it used has been noted, and cannot be lost any more. */
  isSafe = false;
  readonly #owner: Answered;
  /** The usage at the end of the stream was asked for by the gateway: the client does not get it. */
  readonly #strips: boolean;
  /** How often `overdue` has looked since something came. */
  #looks = 0;

  constructor(response: HttpResponse, owner: Answered, strips: boolean) {
    super(response);
    this.#owner = owner;
    this.#strips = strips;
  }

  onHeaders(status: number, raw: string[]): void {
    const owner = this.#owner;
    const headers = owner.responseBegins(status, raw);
    if (headers === null) return;
    const form = responseForm(raw);
    owner.isStreamed = form === 'events';
    this.meter!.begin(form, this.#strips && owner.isStreamed);
    // What the gateway strips from a stream, or adds when it breaks, is in no length that the replica has promised.
    this.begin(status, owner.isStreamed ? withoutLength(headers) : headers, owner.isStreamed);
  }

  onData(piece: Buffer, isLast: boolean): boolean {
    const owner = this.#owner;
    if (owner.hasEnded) return true;
    this.#looks = 0;
    owner.pieceComes(this.bytes === 0);
    this.bytes += piece.length;
    const meter = this.meter!;
    const out = meter.piece(piece);
    if (!this.isSafe && (isLast || meter.isSettled)) {
      // The end of the response comes with it, as a rule; if it does not, nobody is kept waiting.
      if (!isLast && !this.isHeld) setImmediate(noteEarly, owner);
      this.hold(out);
      return true;
    }
    return out.length === 0 || this.write(out, this.#drained);
  }

  onComplete(): void {
    if (this.#owner.hasEnded) return;
    this.hold(this.meter!.rest());
    this.#owner.responseEnds();
  }

  onError(error: Error & { code?: string }): void {
    if (!this.#owner.hasEnded) this.#owner.responseBreaks(error);
  }

  /** This one does not reach the client: there will be another. */
  override forget(): void {
    super.forget();
    this.upstream = null;
    this.#looks = 0;
  }

  /**
   * What has not come in time, null when nothing is missing. Asked every so many milliseconds, so that no timer has to run for
   * every piece. The wait for headers is not watched here but by the connection, and the time that a slow client takes is not
   * the replica's.
   */
  overdue(everyMs: number, { firstByteMs, idleMs }: GatewayConfig['timeouts']): string | null {
    const { isStreamed, status } = this.#owner;
    if (status === 0 || this.isBehind) {
      this.#looks = 0;
      return null;
    }
    const isFirst = isStreamed && this.bytes === 0;
    if (this.#looks++ * everyMs < (isFirst ? firstByteMs : idleMs)) return null;
    return isFirst ? 'first byte' : 'further byte';
  }

  /** The client has caught up. */
  readonly #drained = (): void => this.upstream?.resume();
}

function noteEarly(owner: Answered): void {
  owner.noteEarly();
}
