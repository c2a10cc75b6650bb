import type { RequestParts } from '../../upstream/request-encoder.js';
import { type UpstreamOptions, UpstreamPool } from '../../upstream/upstream-pool.js';
import type { UpstreamHandler, UpstreamRequest } from '../../upstream/upstream-request.js';
import { type ExternalApi, headersForClients } from './external-api.js';

/** Called with the outcome of each request: the status of the response, or why there was none. */
export interface ExternalListener {
  answered(status: number): void;
  broke(problem: string): void;
}

/** The connections to an external API: requests are rewritten for it here, and nowhere else. */
export class ExternalPool extends UpstreamPool {
  readonly #api: ExternalApi;
  readonly #listener: ExternalListener;

  constructor(url: string, options: UpstreamOptions, api: ExternalApi, listener: ExternalListener) {
    super(url, options);
    this.#api = api;
    this.#listener = listener;
  }

  override dispatch(parts: RequestParts, handler: UpstreamHandler): UpstreamRequest {
    return super.dispatch(this.#api.request(parts), new ExternalHandler(handler, this.#listener));
  }
}

/** The upstream refuses the configured credential. */
export class CredentialRefused extends Error {
  readonly code = 'CREDENTIAL_REFUSED';

  constructor() {
    super('it refuses the credential');
  }
}

/**
 * Passes a response on, except when the credential is refused: that response is about the operator's key and may quote
 * it, and the client would take it for a problem with its own key.
 */
class ExternalHandler implements UpstreamHandler {
  readonly #handler: UpstreamHandler;
  readonly #listener: ExternalListener;

  constructor(handler: UpstreamHandler, listener: ExternalListener) {
    this.#handler = handler;
    this.#listener = listener;
  }

  onHeaders(status: number, headers: string[]): void {
    this.#listener.answered(status);
    if (status === 401) throw new CredentialRefused();
    this.#handler.onHeaders(status, headersForClients(headers));
  }

  onData(data: Buffer, isLast: boolean): boolean {
    return this.#handler.onData(data, isLast);
  }

  onComplete(): void {
    this.#handler.onComplete();
  }

  onError(error: Error & { code?: string }): void {
    this.#listener.broke(error.code ?? error.message);
    this.#handler.onError(error);
  }
}
