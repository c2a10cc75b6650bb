import type { Dispatcher } from 'undici';
import type { Clock } from '../contract.js';
import { badRedirect, hubUnreachable, isModelProblem, oddResponse } from '../errors.js';
import { networkProblem } from './network-problem.js';
import { redirected } from './redirected.js';
import { ResponseHeaders } from './response-headers.js';
import { readResponseText, shownReason } from './response-text.js';
import { type HubRequest, statusProblem } from './status-problem.js';

const CONNECT_MS = 10_000;
const HEADERS_MS = 30_000;
/** Without a single byte. */
const STALL_MS = 60_000;
const MOST_REDIRECTS = 10;
/** No list of files is longer. */
const MOST_JSON_BYTES = 64 * 2 ** 20;
const MOST_REASON_BYTES = 16 * 1024;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

export interface HubResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Of the hub's own answer, the first that tags the file: it knows more of it than whatever it sends us to. */
  readonly ownHeaders: ResponseHeaders;
  /** Its errors are `ModelError`s already. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Instead of reading the body. */
  discard(): void;
}

export interface HubSettings {
  /** Without a slash at its end. */
  readonly base: string;
  readonly token: string | undefined;
  readonly clock: Clock;
}

interface Request {
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** A response that sends us elsewhere but has this header is answer enough. */
  readonly enough?: string;
}

/**
 * Asks a hub. Redirects are followed here rather than by a library: the token goes to the hub's own origin only, and once a
 * redirect has left it, to nobody any more.
 */
export class HubClient {
  readonly #base: string;
  readonly #origin: string;
  readonly #token: string | undefined;
  readonly #clock: Clock;
  #dispatcher: Promise<Dispatcher> | undefined;

  constructor({ base, clock, token }: HubSettings) {
    this.#base = base;
    this.#origin = new URL(base).origin;
    this.#token = token;
    this.#clock = clock;
  }

  /** A document. */
  async json(path: string, asked: HubRequest, signal?: AbortSignal): Promise<unknown> {
    const { body } = await this.ask(path, asked, { headers: { accept: 'application/json' }, signal });
    const text = await readResponseText(body, MOST_JSON_BYTES);
    try {
      return JSON.parse(text ?? '');
    } catch {
      throw oddResponse(asked.place, 'the answer is not JSON');
    }
  }

  /** A response that is what was asked for; others are thrown as what they mean. */
  async ask(path: string, asked: HubRequest, request: Request = {}): Promise<HubResponse> {
    try {
      const response = await this.#follow(new URL(this.#base + path), asked.place, request);
      const { headers, status } = response;
      if (status < 300 || REDIRECTS.includes(status)) return response;
      const text = await readResponseText(response.body, MOST_REASON_BYTES);
      throw statusProblem(asked, {
        status,
        headers,
        said: shownReason(headers.text('x-error-message'), text, this.#token),
        hasToken: this.#token !== undefined,
        now: this.#clock.now(),
      });
    } catch (error) {
      request.signal?.throwIfAborted();
      throw isModelProblem(error) ? error : hubUnreachable(asked.place, networkProblem(error));
    }
  }

  async close(): Promise<void> {
    await (await this.#dispatcher)?.destroy();
  }

  async #follow(
    first: URL,
    place: string,
    { enough = '', headers, method = 'GET', signal }: Request,
  ): Promise<HubResponse> {
    const { request } = await import('undici');
    const dispatcher = await this.#connections();
    let url = first;
    let isOwn = true;
    let ownHeaders = new ResponseHeaders({});
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
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
      if (!REDIRECTS.includes(response.statusCode) || found.text(enough) !== undefined) {
        return {
          status: response.statusCode,
          headers: found,
          ownHeaders,
          body: told(response.body, place, signal),
          discard: () => response.body.on('error', () => {}).destroy(),
        };
      }
      await response.body.dump();
      url = redirected(url, found.text('location'), place);
    }
    throw badRedirect(place, `sends us elsewhere more than ${MOST_REDIRECTS} times`);
  }

  /** Made when first needed: most commands ask no hub. `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` count. */
  #connections(): Promise<Dispatcher> {
    this.#dispatcher ??= import('undici').then(
      ({ EnvHttpProxyAgent }) =>
        new EnvHttpProxyAgent({
          connect: { timeout: CONNECT_MS },
          headersTimeout: HEADERS_MS,
          bodyTimeout: STALL_MS,
        }),
    );
    return this.#dispatcher;
  }
}

/** The bytes, with errors in our words. */
async function* told(body: AsyncIterable<Uint8Array>, place: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    signal?.throwIfAborted();
    throw hubUnreachable(place, networkProblem(error));
  }
}
