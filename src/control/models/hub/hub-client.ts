import type { Dispatcher } from 'undici';
import { guardedLookup, refusedAddress, restrictedHost } from '../../../protocol/http-client/address-rules.js';
import { networkProblem } from '../../../protocol/http-client/network-problem.js';
import { readResponseText } from '../../../protocol/http-client/read-response-text.js';
import type { Clock } from '../contract.js';
import { badRedirect, hubUnreachable, isModelProblem, oddResponse } from '../errors.js';
import { ResponseHeaders } from './response-headers.js';
import { type HubRequest, statusProblem } from './status-problem.js';

/** Longer explanations of a server are cut. */
const MOST_REASON_CHARACTERS = 200;

const CONNECT_MS = 10_000;
const HEADERS_MS = 30_000;
/** Longest time without a byte. */
const STALL_MS = 60_000;
const MOST_REDIRECTS = 10;
/** Larger than any list of files. */
const MOST_JSON_BYTES = 64 * 2 ** 20;
const MOST_REASON_BYTES = 16 * 1024;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

export interface HubResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Of the hub's own response, the first one with an ETag: it knows more about the file than the target of a redirect. */
  readonly ownHeaders: ResponseHeaders;
  /** Its errors are `ModelError`s. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Instead of reading the body. */
  discard(): void;
}

export interface HubSettings {
  /** Without a slash at the end. */
  readonly base: string;
  readonly token: string | undefined;
  readonly clock: Clock;
  /** Refuses addresses of this machine, its network segment and metadata services, also as targets of redirects. */
  readonly isGuarded: boolean;
}

interface Request {
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** A redirect with this header is not followed. */
  readonly endsWith?: string;
}

/**
 * The client of a hub. It follows redirects itself: the token is sent to the hub's own origin only, and not at all once a redirect has
 * left it.
 */
export class HubClient {
  readonly #base: string;
  readonly #origin: string;
  readonly #token: string | undefined;
  readonly #clock: Clock;
  readonly #isGuarded: boolean;
  #dispatcher: Promise<Dispatcher> | undefined;

  constructor({ base, clock, isGuarded, token }: HubSettings) {
    this.#isGuarded = isGuarded;
    this.#base = base;
    this.#origin = new URL(base).origin;
    this.#token = token;
    this.#clock = clock;
  }

  /** A JSON document. */
  async json(path: string, target: HubRequest, signal?: AbortSignal): Promise<unknown> {
    const { body } = await this.request(path, target, { headers: { accept: 'application/json' }, signal });
    const text = await readResponseText(body, MOST_JSON_BYTES);
    try {
      return JSON.parse(text ?? '');
    } catch {
      throw oddResponse(target.place, 'the response is not JSON');
    }
  }

  /** A successful response; others are thrown as errors. */
  async request(path: string, target: HubRequest, request: Request = {}): Promise<HubResponse> {
    try {
      const response = await this.#follow(new URL(this.#base + path), target.place, request);
      const { headers, status } = response;
      if (status < 300 || REDIRECTS.includes(status)) return response;
      const text = await readResponseText(response.body, MOST_REASON_BYTES);
      throw statusProblem(target, {
        status,
        headers,
        reason: shownReason(headers.text('x-error-message'), text, this.#token),
        hasToken: this.#token !== undefined,
        now: this.#clock.now(),
      });
    } catch (error) {
      request.signal?.throwIfAborted();
      throw isModelProblem(error) ? error : hubUnreachable(target.place, networkProblem(error));
    }
  }

  async close(): Promise<void> {
    await (await this.#dispatcher)?.destroy();
  }

  async #follow(
    first: URL,
    place: string,
    { endsWith = '', headers, method = 'GET', signal }: Request,
  ): Promise<HubResponse> {
    const { request } = await import('undici');
    const dispatcher = await this.#connections();
    let url = first;
    let isOwn = true;
    let ownHeaders = new ResponseHeaders({});
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const refusal = this.#isGuarded ? restrictedHost(url.hostname) : null;
      if (refusal !== null) throw refusedAddress(url.hostname, refusal);
      isOwn &&= url.origin === this.#origin;
      const credentials = isOwn && this.#token !== undefined ? { authorization: `Bearer ${this.#token}` } : {};
      const response = await request(url, {
        method,
        dispatcher,
        signal: signal ?? null,
        headers: { 'user-agent': 'twinyard', 'accept-encoding': 'identity', ...headers, ...credentials },
      });
      const found = new ResponseHeaders(response.headers);
      if (isOwn && ownHeaders.tag === null) ownHeaders = found;
      if (!REDIRECTS.includes(response.statusCode) || found.text(endsWith) !== undefined) {
        return {
          status: response.statusCode,
          headers: found,
          ownHeaders,
          body: withModelErrors(response.body, place, signal),
          discard: () => response.body.on('error', () => {}).destroy(),
        };
      }
      await response.body.dump();
      url = redirected(url, found.text('location'), place);
    }
    throw badRedirect(place, `redirects more than ${MOST_REDIRECTS} times`);
  }

  /** Created on first use: most commands contact no hub. `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are respected. */
  #connections(): Promise<Dispatcher> {
    this.#dispatcher ??= import('undici').then(
      ({ EnvHttpProxyAgent }) =>
        new EnvHttpProxyAgent({
          connect: { timeout: CONNECT_MS, ...(this.#isGuarded ? { lookup: guardedLookup } : {}) },
          headersTimeout: HEADERS_MS,
          bodyTimeout: STALL_MS,
        }),
    );
    return this.#dispatcher;
  }
}

/** The bytes, with errors of the network as `ModelError`s. */
async function* withModelErrors(
  body: AsyncIterable<Uint8Array>,
  place: string,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    signal?.throwIfAborted();
    throw hubUnreachable(place, networkProblem(error));
  }
}

/** The target of a redirect. Other schemes, and redirects from https to http, are refused. */
export function redirected(from: URL, location: string | undefined, place: string): URL {
  const to = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to === undefined || (to.protocol !== 'https:' && to.protocol !== 'http:')) {
    throw badRedirect(place, 'redirects to something that is not an http URL');
  }
  if (from.protocol === 'https:' && to.protocol === 'http:') throw badRedirect(place, 'redirects from https to http');
  return to;
}

/** A server's explanation, to follow its status. The token is removed: a server may repeat what it was sent. */
function shownReason(header: string | undefined, body: string | undefined, token: string | undefined): string {
  const line = (header ?? errorField(body) ?? '').replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  const clean = token === undefined ? line : line.replaceAll(token, '***');
  return clean === '' ? '' : `: ${clean.slice(0, MOST_REASON_CHARACTERS)}`;
}

function errorField(body: string | undefined): string | undefined {
  try {
    const { error } = JSON.parse(body ?? '') as { error?: unknown };
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}
