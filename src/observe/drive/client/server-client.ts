import { type Dispatcher, Pool } from 'undici';
import { readResponseText } from '../../../protocol/http-client/read-response-text.js';
import { connectionProblem, failedStatus, type ResponseProblem } from './response-problem.js';

/** Long enough for any network, short enough to notice an unreachable server. */
const CONNECT_MS = 10_000;
/** Servers close idle connections after 5 seconds or later: we leave first. */
const KEEP_ALIVE_MS = 4000;
/** No list of models or exposition of metrics is larger. */
const MAX_BYTES = 64 * 1024 * 1024;

export interface ServerAddress {
  /** Scheme, host, port and the path before `/v1`. */
  url: string;
  apiKey?: string;
  headers?: Readonly<Record<string, string>>;
}

/** A response to a small question, or what is wrong with it. */
export type Reply = { text: string; problem?: undefined } | { text?: undefined; problem: ResponseProblem };

/** The connections to a server: one for each request under way, kept for the next. */
export class ServerClient {
  readonly #pool: Pool;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ apiKey, headers = {}, url }: ServerAddress) {
    const { origin, pathname } = new URL(url);
    this.#base = pathname.replace(/\/$/, '').replace(/\/v1$/, '');
    this.#headers = {
      'content-type': 'application/json',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      ...headers,
    };
    this.#pool = new Pool(origin, {
      allowH2: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { timeout: CONNECT_MS },
    });
  }

  /** Sends a request whose response the handler reads. */
  dispatch(
    path: string,
    body: Buffer,
    headers: Readonly<Record<string, string>>,
    handler: Dispatcher.DispatchHandler,
  ): void {
    const all = { ...this.#headers, ...headers };
    this.#pool.dispatch({ method: 'POST', path: this.#base + path, body, headers: all }, handler);
  }

  /** Sends a small request: a GET, or a POST with a body. Never throws. */
  async ask(path: string, timeoutMs: number, body?: string): Promise<Reply> {
    const signal = AbortSignal.timeout(timeoutMs);
    let hasBegun = false;
    try {
      const response = await this.#pool.request({
        method: body === undefined ? 'GET' : 'POST',
        path: this.#base + path,
        headers: this.#headers,
        body: body ?? null,
        signal,
      });
      hasBegun = true;
      const text = await readResponseText(response.body, MAX_BYTES);
      if (text === undefined) throw new Error('the response is too large');
      return response.statusCode < 300 ? { text } : { problem: failedStatus(response.statusCode, text) };
    } catch (error) {
      if (signal.aborted)
        return { problem: { class: 'hang', message: `no response from ${path} within ${timeoutMs / 1000} s` } };
      return { problem: connectionProblem(error as Error, hasBegun) };
    }
  }

  /** Aborts all requests. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}
