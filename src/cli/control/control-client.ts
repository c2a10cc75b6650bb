import { type ServerEvent, serverEvents } from '../../protocol/server-events.js';
import { noTls, unreachable } from './errors.js';
import type { Server } from './find-server.js';
import { refusalOf } from './refusal.js';

export interface Asked {
  readonly query?: Readonly<Record<string, string | null>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Speaks to the control API of one server. What it refuses is thrown, as the mistake that it is. */
export class ControlClient {
  constructor(private readonly server: Server) {}

  get url(): string {
    return this.server.url;
  }

  async ask<Answer>(method: string, path: string, asked: Asked = {}): Promise<Answer> {
    const response = await this.#send(method, path, asked);
    return (await this.#body(response)) as Answer;
  }

  /** Ends with the stream or with the signal, and throws when the connection breaks. */
  async *events(path: string, query: Asked['query'], signal: AbortSignal): AsyncGenerator<ServerEvent> {
    try {
      const response = await this.#send('GET', path, { ...(query === undefined ? {} : { query }), signal });
      if (response.body !== null) yield* serverEvents(piecesOf(response.body, signal));
    } catch (error) {
      if (signal.aborted) return;
      throw error instanceof TypeError ? this.#lost(error) : error;
    }
  }

  async #send(method: string, path: string, { body, query = {}, signal }: Asked): Promise<Response> {
    const url = new URL(path, this.server.url);
    for (const [name, value] of Object.entries(query)) if (value !== null) url.searchParams.set(name, value);
    let response: Response;
    try {
      response = await fetch(url, {
        method,
        // The token is for this server.
        redirect: 'error',
        headers: {
          authorization: `Bearer ${this.server.token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/yaml' }),
        },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw this.#lost(error);
    }
    if (response.ok) return response;
    throw refusalOf(this.url, response.status, await this.#body(response).catch(() => null));
  }

  #lost(error: unknown): Error {
    const reason = why(error);
    return reason === 'ERR_SSL_WRONG_VERSION_NUMBER' ? noTls(this.url) : unreachable(this.url, reason);
  }

  async #body(response: Response): Promise<unknown> {
    let text: string;
    try {
      text = await response.text();
    } catch (error) {
      throw this.#lost(error);
    }
    try {
      return JSON.parse(text);
    } catch {
      throw refusalOf(this.url, response.status, null);
    }
  }
}

/**
 * What a stream brings until the signal is given. Fetch itself forgets the signal once its request has been collected as garbage,
 * which it may be while the response still comes.
 */
async function* piecesOf(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

/** What is below the words of fetch. */
function why(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}
