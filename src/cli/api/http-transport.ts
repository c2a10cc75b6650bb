import { networkProblem } from '../../protocol/http-client/network-problem.js';
import { type ServerEvent, serverEvents } from '../../protocol/sse/server-events.js';
import type { CallOptions, Transport } from './api-client.js';
import { noTls, notRunning, unreachable } from './errors.js';
import type { Server } from './find-server.js';
import { refusalOf } from './refusal.js';

/** The API of a server over HTTP. */
export class HttpTransport implements Transport {
  constructor(private readonly server: Server) {}

  get url(): string {
    return this.server.url;
  }

  async call(method: string, path: string, options: CallOptions): Promise<{ status: number; body: unknown }> {
    const response = await this.#send(method, path, options);
    return { status: response.status, body: await this.#body(response) };
  }

  /** A response that is text, such as metrics. */
  async text(path: string, signal: AbortSignal): Promise<string> {
    const response = await this.#send('GET', path, { signal });
    if (!response.ok) throw refusalOf(this.url, response.status, await this.#body(response));
    return response.text();
  }

  async *events(
    path: string,
    query: CallOptions['query'],
    signal: AbortSignal,
    opened: () => void = () => {},
  ): AsyncGenerator<ServerEvent> {
    try {
      const response = await this.#send('GET', path, { ...(query === undefined ? {} : { query }), signal });
      if (!response.ok) throw refusalOf(this.url, response.status, await this.#body(response));
      opened();
      if (response.body !== null) yield* serverEvents(piecesOf(response.body, signal));
    } catch (error) {
      if (signal.aborted) return;
      throw error instanceof TypeError ? this.#lost(error) : error;
    }
  }

  async #send(method: string, path: string, { body, query = {}, signal, version }: CallOptions): Promise<Response> {
    const url = new URL(path, this.server.url);
    for (const [name, value] of Object.entries(query)) if (value !== null) url.searchParams.set(name, value);
    try {
      return await fetch(url, {
        method,
        // The token is for this server.
        redirect: 'error',
        headers: {
          authorization: `Bearer ${this.server.token}`,
          ...(body === undefined
            ? {}
            : { 'content-type': body.startsWith('{') ? 'application/json' : 'application/yaml' }),
          ...(version === undefined ? {} : { 'if-match': String(version) }),
        },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw this.#lost(error);
    }
  }

  #lost(error: unknown): Error {
    const problem = networkProblem(error);
    if (problem === 'ERR_SSL_WRONG_VERSION_NUMBER') return noTls(this.url);
    const { recordedIn } = this.server;
    if (problem === 'connection refused' && recordedIn !== undefined) return notRunning(this.url, recordedIn);
    return unreachable(this.url, problem);
  }

  /** Null for a body that is not JSON. */
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
      return null;
    }
  }
}

/**
 * The chunks of a response body until the signal. The signal given to fetch has no effect once its request has been garbage
 * collected, which may happen while the body is still being read.
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
