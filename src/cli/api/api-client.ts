import { type ServerEvent, serverEvents } from '../../protocol/sse/server-events.js';
import { noTls, unreachable } from './errors.js';
import type { Server } from './find-server.js';
import { refusalOf } from './refusal.js';

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | null>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** All items of a list. */
export interface WholeList<Item> {
  readonly kind: string;
  readonly items: readonly Item[];
  /** Of the first page: a watch from here on misses nothing. */
  readonly resource_version?: number;
}

interface ListPage<Item> extends WholeList<Item> {
  readonly next: string | null;
}

const PAGE = '1000';

/** The client of the API of one server. An error response is thrown as an error. */
export class ApiClient {
  constructor(private readonly server: Server) {}

  get url(): string {
    return this.server.url;
  }

  async call<Result>(method: string, path: string, options: CallOptions = {}): Promise<Result> {
    const response = await this.#send(method, path, options);
    return (await this.#body(response)) as Result;
  }

  /** Reads a list page by page. */
  async list<Item>(path: string, { query, ...options }: Omit<CallOptions, 'body'> = {}): Promise<WholeList<Item>> {
    const next = async (cursor: string | null) =>
      this.call<ListPage<Item>>('GET', path, { ...options, query: { limit: PAGE, ...query, cursor } });
    const first = await next(null);
    const items = [...first.items];
    for (let page = first; typeof page.next === 'string'; ) {
      page = await next(page.next);
      items.push(...page.items);
    }
    const { kind, resource_version } = first;
    return { kind, items, ...(resource_version === undefined ? {} : { resource_version }) };
  }

  /** Ends with the stream or with the signal, and throws when the connection breaks. */
  async *events(path: string, query: CallOptions['query'], signal: AbortSignal): AsyncGenerator<ServerEvent> {
    try {
      const response = await this.#send('GET', path, { ...(query === undefined ? {} : { query }), signal });
      if (response.body !== null) yield* serverEvents(piecesOf(response.body, signal));
    } catch (error) {
      if (signal.aborted) return;
      throw error instanceof TypeError ? this.#lost(error) : error;
    }
  }

  async #send(method: string, path: string, { body, query = {}, signal }: CallOptions): Promise<Response> {
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
 * The pieces of a stream until the signal. Fetch itself forgets the signal once its request has been collected as garbage, which
 * may happen while the response is still being read.
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

/** The cause below the message of fetch. */
function why(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}
