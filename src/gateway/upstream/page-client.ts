import type { Pool } from 'undici';
import { guardedLookup, refusedAddress, restrictedHost } from '../../protocol/http-client/address-rules.js';
import { readResponseText } from '../../protocol/http-client/read-response-text.js';
import type { UpstreamTls } from './origin.js';
import { connectTimeout, cut, headersTimeout, malformed, poolClosed } from './upstream-error.js';

export interface PageClientOptions {
  /** To reach the replica. */
  connectMs: number;
  keepAliveMs: number;
  mostConnections: number;
  tls?: UpstreamTls;
  /** Refuses addresses of this machine, its network segment and metadata services. */
  isGuarded?: boolean;
}

/** A page, with headers as names and values in turn. */
export interface PageRequest {
  path: string;
  headers: string[];
}

export interface PageLimits {
  /** For the whole exchange, up to the last byte. */
  timeoutMs: number;
  mostBytes: number;
}

export interface ReplicaPage {
  status: number;
  text: string;
}

/** Reads pages of a replica, for health checks and metrics, on connections beside those of its requests. */
export class PageClient {
  readonly #origin: string;
  readonly #options: PageClientOptions;
  #pool: Promise<Pool> | null = null;
  #closed = false;

  constructor(origin: string, options: PageClientOptions) {
    this.#origin = origin;
    this.#options = options;
  }

  /** Rejects with the codes of upstream errors, or with those of the socket. */
  async get({ headers, path }: PageRequest, { mostBytes, timeoutMs }: PageLimits): Promise<ReplicaPage> {
    if (this.#closed) throw poolClosed();
    const { hostname } = new URL(this.#origin);
    const refusal = this.#options.isGuarded === true ? restrictedHost(hostname) : null;
    if (refusal !== null) throw refusedAddress(hostname, refusal);
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(headersTimeout()), timeoutMs);
    try {
      this.#pool ??= this.#newPool();
      const pool = await this.#pool;
      const { body, statusCode } = await pool.request({ path, method: 'GET', headers, signal: timeout.signal });
      const text = await readResponseText(body, mostBytes);
      if (text === undefined) throw new Error(`${path} is larger than ${mostBytes} bytes`);
      return { status: statusCode, text };
    } catch (error) {
      throw upstreamError(error as NodeJS.ErrnoException);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends everything at once. */
  async destroy(): Promise<void> {
    this.#closed = true;
    await (await this.#pool)?.destroy();
  }

  async #newPool(): Promise<Pool> {
    // Loaded on first use: a gateway listens before its first health check.
    const { Pool } = await import('undici');
    const { connectMs, isGuarded = false, keepAliveMs, mostConnections, tls } = this.#options;
    return new Pool(this.#origin, {
      connections: mostConnections,
      connect: { timeout: connectMs, ...(isGuarded ? { lookup: guardedLookup } : {}), ...tls },
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // The time-out of each page covers them.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }
}

/** The same codes as for requests: an operator sees one name for one problem. */
function upstreamError(error: NodeJS.ErrnoException): Error {
  const { code, message, name } = error;
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return connectTimeout();
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return poolClosed();
  if (code === 'UND_ERR_SOCKET') return cut();
  return name === 'HTTPParserError' ? malformed(`is not valid HTTP (${message})`) : error;
}
