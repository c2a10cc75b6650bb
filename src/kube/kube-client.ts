import { Agent, type Dispatcher } from 'undici';
import type { Credential, KubeAccess } from './access/kube-access.js';
import { KubeStatusError, missingApi, notReached } from './errors.js';

export interface KubeCall {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: Readonly<Record<string, string | number | boolean | null>>;
  readonly body?: unknown;
  /** Of the body; JSON by default. */
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

const REQUEST_TIMEOUT_MS = 30_000;
/** Of an error: enough for its message. */
const MOST_ERROR_BYTES = 64 * 1024;

/** Calls the API of one cluster. Connections are kept; credentials are read again when the API server refuses them. */
export class KubeClient {
  readonly access: KubeAccess;
  readonly #origin: string;
  readonly #prefix: string;
  #agent: Agent | null = null;
  #cert: string | undefined;

  constructor(access: KubeAccess) {
    this.access = access;
    const { origin, pathname } = new URL(access.server);
    this.#origin = origin;
    this.#prefix = pathname === '/' ? '' : pathname;
  }

  /** The JSON of a response. Throws a `KubeStatusError` when it is no success. */
  async json<T>(path: string, call: KubeCall = {}): Promise<T> {
    const { body } = await this.#request(path, call, REQUEST_TIMEOUT_MS);
    try {
      return (await body.json()) as T;
    } catch (error) {
      throw notReached(this.access.server, `the response is not complete JSON: ${(error as Error).message}`);
    }
  }

  /** The bytes of a response as they arrive: a watch or a log. It has no time-out: the caller watches for silence. */
  async bytes(path: string, call: KubeCall = {}): Promise<AsyncIterable<Buffer>> {
    const { body } = await this.#request(path, call, 0);
    return body;
  }

  /** Aborts what is under way. */
  async close(): Promise<void> {
    await this.#agent?.destroy();
    this.#agent = null;
  }

  async #request(path: string, call: KubeCall, bodyTimeout: number): Promise<Dispatcher.ResponseData> {
    let response = await this.#send(path, call, bodyTimeout, await this.access.credentials.read(false));
    if (response.statusCode === 401) {
      await response.body.dump();
      response = await this.#send(path, call, bodyTimeout, await this.access.credentials.read(true));
    }
    if (response.statusCode >= 300) throw await statusError(path, response);
    return response;
  }

  async #send(
    path: string,
    { body, contentType = 'application/json', method = 'GET', query = {}, signal }: KubeCall,
    bodyTimeout: number,
    credential: Credential,
  ): Promise<Dispatcher.ResponseData> {
    const { authorization } = credential;
    try {
      return await this.#agentFor(credential).request({
        origin: this.#origin,
        path: `${this.#prefix}${path}${queryText(query)}`,
        method,
        headers: {
          accept: 'application/json',
          'user-agent': 'twinyard',
          ...(authorization === null ? {} : { authorization }),
          ...(body === undefined ? {} : { 'content-type': contentType }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headersTimeout: REQUEST_TIMEOUT_MS,
        bodyTimeout,
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw notReached(this.access.server, problemOf(error));
    }
  }

  /** A new client certificate needs new connections. */
  #agentFor({ cert, key }: Credential): Agent {
    if (this.#agent !== null && this.#cert === cert) return this.#agent;
    void this.#agent?.close();
    const { ca, skipsTlsVerify, tlsServerName } = this.access;
    this.#cert = cert;
    this.#agent = new Agent({
      connect: {
        timeout: 10_000,
        ...(ca === null ? {} : { ca }),
        ...(tlsServerName === null ? {} : { servername: tlsServerName }),
        ...(cert === undefined ? {} : { cert, key }),
        rejectUnauthorized: !skipsTlsVerify,
      },
    });
    return this.#agent;
  }
}

function queryText(query: NonNullable<KubeCall['query']>): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== '');
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/** `/apis/GROUP/VERSION/namespaces/NAME/PLURAL`. A 404 there without a `Status` is that of an API that is not installed. */
const API_PATH = /^\/apis\/([^/]+)\/([^/]+)\/(?:namespaces\/[^/]+\/)?([^/?]+)/;

/** The message of a `Status`, which names object and reason; the body of a proxy in between is shortened. */
async function statusError(path: string, { body, headers, statusCode }: Dispatcher.ResponseData) {
  let text = '';
  try {
    for await (const chunk of body.setEncoding('utf8')) {
      text += chunk;
      if (text.length > MOST_ERROR_BYTES) break;
    }
  } catch {
    // What came so far is enough.
  }
  const after = Number(headers['retry-after']);
  const retryAfterS = Number.isFinite(after) && after >= 0 ? after : null;
  try {
    const { message, reason } = JSON.parse(text) as { message?: string; reason?: string };
    if (typeof message === 'string') return new KubeStatusError(statusCode, reason ?? '', message, retryAfterS);
  } catch {
    // No `Status`.
  }
  const api = statusCode === 404 ? API_PATH.exec(path) : null;
  if (api !== null)
    return new KubeStatusError(404, 'NotFound', missingApi(`${api[3]}.${api[1]}/${api[2]}`), retryAfterS);
  const shown = text.replace(/\s+/g, ' ').trim().slice(0, 200);
  return new KubeStatusError(statusCode, '', `${path}: status ${statusCode}${shown && ` (${shown})`}`, retryAfterS);
}

function problemOf(error: unknown): string {
  const { cause, code, message } = error as Error & { code?: string; cause?: Error };
  return cause?.message || message || code || String(error);
}
