import type { ServerEvent } from '../../protocol/sse/server-events.js';
import type { CliIo } from '../io.js';
import { findServer, type ServerValues } from './find-server.js';
import { HttpTransport } from './http-transport.js';
import { refusalOf } from './refusal.js';

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | null>>;
  /** YAML or JSON. */
  readonly body?: string;
  /** The resource version that a change is for. */
  readonly version?: number;
  readonly signal?: AbortSignal;
}

/** How calls of the API reach it: over HTTP, or in this process. */
export interface Transport {
  /** For messages. */
  readonly url: string;
  /** Resolves with a response of any status; `body` is null when it is not JSON. Rejects when there is no response. */
  call(
    method: string,
    path: string,
    options: CallOptions,
  ): Promise<{ readonly status: number; readonly body: unknown }>;
  /**
   * Ends with the stream or with the signal, and throws when the connection breaks.
   * @param opened called when the server has accepted the request
   */
  events(
    path: string,
    query: CallOptions['query'],
    signal: AbortSignal,
    opened?: () => void,
  ): AsyncGenerator<ServerEvent>;
}

/** All items of a list. */
export interface WholeList<Item> {
  readonly kind: string;
  readonly items: readonly Item[];
  /** Of the first page: a watch from here on misses nothing. */
  readonly resource_version?: number;
  /** There are more than were wanted. */
  readonly hasMore?: true;
}

interface ListPage<Item> extends WholeList<Item> {
  readonly next: string | null;
}

const PAGE = 1000;

/** The client of the API. An error response is thrown as an error. */
export class ApiClient {
  constructor(private readonly transport: Transport) {}

  /** The API of the server that flags and environment name. */
  static of(values: ServerValues, io: Pick<CliIo, 'env'>): ApiClient {
    return new ApiClient(new HttpTransport(findServer(values, io)));
  }

  get url(): string {
    return this.transport.url;
  }

  async call<Result>(method: string, path: string, options: CallOptions = {}): Promise<Result> {
    const { body, status } = await this.transport.call(method, path, options);
    if (status < 200 || status > 299 || body === null) throw refusalOf(this.url, status, body);
    return body as Result;
  }

  /** Reads a list page by page. @param most no more than this many items; null for all */
  async list<Item>(
    path: string,
    { query, ...options }: Omit<CallOptions, 'body'> = {},
    most: number | null = null,
  ): Promise<WholeList<Item>> {
    const items: Item[] = [];
    const next = async (cursor: string | null) => {
      const limit = String(Math.min(PAGE, (most ?? Number.POSITIVE_INFINITY) - items.length));
      const page = await this.call<ListPage<Item>>('GET', path, { ...options, query: { limit, ...query, cursor } });
      items.push(...page.items);
      return page;
    };
    const first = await next(null);
    let cursor = first.next;
    while (typeof cursor === 'string' && items.length !== most) cursor = (await next(cursor)).next;
    const { kind, resource_version } = first;
    return {
      ...{ kind, items },
      ...(resource_version === undefined ? {} : { resource_version }),
      ...(typeof cursor === 'string' ? { hasMore: true } : {}),
    };
  }

  /** As `Transport.events`. */
  events(...args: Parameters<Transport['events']>): AsyncGenerator<ServerEvent> {
    return this.transport.events(...args);
  }
}
