import { type ApiError, errorBody } from '../../protocol/errors.js';
import type { HttpResponse } from '../http/http-response.js';
import { sendError } from './send-error.js';

/**
 * What a client gets. Its headers wait for the first bytes, so that another replica can be tried as long as the client has
 * nothing; its last bytes wait until what the request used is noted.
 */
export class ClientResponse {
  readonly #response: HttpResponse;
  #status = 0;
  #headers: string[] | null = null;
  #held: Buffer | null = null;
  #isStream = false;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  /** The client has got something, and cannot be told otherwise any more. */
  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** The client does not keep up. */
  get isBehind(): boolean {
    return this.#response.isBehind;
  }

  get isHeld(): boolean {
    return this.#held !== null;
  }

  /** @param isStream its headers go out at once, together with its first piece if that is here already */
  begin(status: number, headers: string[], isStream: boolean): void {
    this.#status = status;
    this.#headers = headers;
    this.#isStream = isStream;
    if (!isStream) return;
    this.#writeHead();
    process.nextTick(flushHeaders, this.#response);
  }

  /** There will be another. */
  forget(): void {
    this.#headers = null;
    this.#isStream = false;
  }

  /** The connection ends with this response. */
  closeAfter(): void {
    this.#response.shouldKeepAlive = false;
  }

  /** Whether the client keeps up; if not, `drained` is called when it does again. */
  write(piece: Buffer, drained: () => void): boolean {
    if (this.#headers !== null) this.#writeHead();
    if (this.#response.write(piece)) return true;
    this.#response.onDrain = drained;
    return false;
  }

  /** Keeps a piece back, behind those kept back before. */
  hold(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#held = this.#held === null ? piece : Buffer.concat([this.#held, piece]);
  }

  /** Sends what was held back. */
  release(): void {
    if (this.#held === null) return;
    if (this.#headers !== null) this.#writeHead();
    this.#response.write(this.#held);
    this.#held = null;
  }

  end(): void {
    const held = this.#held;
    this.#held = null;
    if (this.#headers !== null) this.#writeHead();
    this.#response.end(held);
  }

  /**
   * Ends with an error: as a response, or as the last event of a stream that has begun.
   * @param isInsideEvent whether the client is in the middle of an event
   */
  fail(error: ApiError, requestId: string, isInsideEvent: boolean): void {
    const response = this.#response;
    if (!response.headersSent) sendError(response, error, requestId);
    else if (this.#isStream) {
      this.release();
      response.end(`${isInsideEvent ? '\n\n' : ''}data: ${JSON.stringify(errorBody(error))}\n\n`);
    } else {
      // The length was promised: only a cut connection says that the rest will not come.
      response.destroy();
    }
  }

  #writeHead(): void {
    this.#response.writeHead(this.#status, this.#headers!);
    this.#headers = null;
  }
}

function flushHeaders(response: HttpResponse): void {
  response.flushHeaders();
}
