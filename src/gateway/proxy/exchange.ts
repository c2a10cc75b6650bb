import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApiError, errorBody } from '../../protocol/errors.js';
import { noReplica, upstreamTimeout } from '../errors.js';
import type { Endpoint, Placement } from '../fleet/endpoint.js';
import type { LiveReplica } from '../fleet/live-replica.js';
import type { RequestFacts } from '../request/request-facts.js';
import { downstreamHeaders, upstreamHeaders } from './headers.js';
import type { RetryBudget } from './retry-budget.js';
import { upstreamFailure } from './upstream-failure.js';

/** How a request ended, for metrics and logs. */
export type Outcome = 'ok' | 'client_error' | 'upstream_error' | 'timeout' | 'client_left' | 'no_replica';

/** What an exchange needs of its gateway. */
export interface ExchangeHost {
  readonly retries: { most: number; backoffMs: number };
  readonly budget: RetryBudget;
  /** No more requests are wanted: connections end with their answers. */
  readonly isDraining: boolean;
  nowMs(): number;
  /** A number in [0, 1) from the gateway's seeded stream. */
  jitter(): number;
  retried(): void;
  ended(exchange: Exchange, outcome: Outcome): void;
}

const EVENT_STREAM = 'text/event-stream';
/** Answers of a replica that another replica may better. */
const WORTH_ANOTHER_TRY = new Set([502, 503, 504]);
const NEWLINE = 10;

/**
 * One request on its way: chooses a replica, sends it there, passes the answer on byte for byte with back-pressure, tries
 * another replica while the client has not got a byte, and gives everything back exactly once, however it ends.
 * It is the handler of its own upstream request, so that nothing is allocated per piece.
 */
export class Exchange {
  readonly facts: RequestFacts;
  readonly endpoint: Endpoint;
  readonly startedMs: number;
  firstByteMs = Number.NaN;
  status = 0;
  replica: LiveReplica | null = null;
  readonly #host: ExchangeHost;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #path: string;
  readonly #body: Buffer;
  readonly #headers: string[];
  readonly #tried: LiveReplica[] = [];
  #placement: Placement | null = null;
  #abort: ((reason?: Error) => void) | null = null;
  #resume: (() => void) | null = null;
  #retryTimer: NodeJS.Timeout | null = null;
  /** The answer of this try is thrown away: another try follows. */
  #discarded = false;
  #streams = false;
  #hasData = false;
  #endsEvent = false;
  #ended = false;

  constructor(
    host: ExchangeHost,
    endpoint: Endpoint,
    facts: RequestFacts,
    {
      request,
      response,
      path,
      body,
    }: { request: IncomingMessage; response: ServerResponse; path: string; body: Buffer },
  ) {
    this.#host = host;
    this.endpoint = endpoint;
    this.facts = facts;
    this.#request = request;
    this.#response = response;
    this.#path = path;
    this.#body = body;
    this.#headers = upstreamHeaders(request.rawHeaders, facts.id);
    this.startedMs = host.nowMs();
    response.on('close', this.#clientClosed);
  }

  start(): void {
    this.#host.budget.request();
    this.#try();
  }

  /** The time for the whole request is up. */
  timeOut(): void {
    if (this.#ended) return;
    this.#fail(upstreamTimeout(this.replica?.id ?? '', 'complete answer'), 'timeout');
  }

  // What undici calls.

  onConnect(abort: (reason?: Error) => void): void {
    if (this.#ended) abort();
    else this.#abort = abort;
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (status < 200 || this.#ended) return true;
    if (WORTH_ANOTHER_TRY.has(status) && this.#mayRetry()) {
      this.#discard(`status ${status}`);
      return true;
    }
    this.#resume = resume;
    this.status = status;
    const headers = downstreamHeaders(raw);
    this.#streams = isEventStream(headers);
    headers.push('x-request-id', this.facts.id, 'x-twinyard-replica', this.replica!.id);
    headers.push('x-twinyard-decision', `${this.endpoint.policy.name}: ${this.#rule}`);
    if (this.#host.isDraining) this.#response.shouldKeepAlive = false;
    this.#response.writeHead(status, headers);
    // A stream's headers go out at once, together with its first piece if that is here already.
    if (this.#streams) process.nextTick(flushHeaders, this.#response);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#ended || this.#discarded) return true;
    if (!this.#hasData) {
      this.#hasData = true;
      this.firstByteMs = this.#host.nowMs();
      this.endpoint.firstToken(this.#placement!);
    }
    if (this.#streams) this.#endsEvent = chunk[chunk.length - 1] === NEWLINE && chunk[chunk.length - 2] === NEWLINE;
    if (this.#response.write(chunk)) return true;
    this.#response.once('drain', this.#resume!);
    return false;
  }

  onComplete(): void {
    if (this.#ended) return;
    if (this.#discarded) {
      this.#retry();
      return;
    }
    const { breaker } = this.replica!;
    if (this.status >= 500) breaker.failed(this.#host.nowMs());
    else breaker.succeeded();
    this.#response.end();
    this.#end(this.status < 400 ? 'ok' : this.status < 500 ? 'client_error' : 'upstream_error');
  }

  onError(error: Error): void {
    if (this.#ended) return;
    if (this.#discarded) {
      this.#retry();
      return;
    }
    this.replica!.breaker.failed(this.#host.nowMs());
    if (!this.#response.headersSent && this.#mayRetry()) {
      this.#discarded = true;
      this.#retry();
      return;
    }
    const failure = upstreamFailure(this.replica!.id, error);
    this.#fail(failure, failure.status === 504 ? 'timeout' : 'upstream_error');
  }

  #rule = '';

  #try(): void {
    const placement = this.endpoint.place(this.facts, this.#tried.length, this.#tried);
    if (placement === null) {
      this.#fail(noReplica(this.facts.model, this.endpoint.lastRemovals), 'no_replica');
      return;
    }
    this.#placement = placement;
    this.#rule = this.endpoint.lastRule;
    this.#discarded = false;
    this.replica = placement.replica;
    const { method } = this.#request;
    placement.replica.pool.dispatch(
      { path: this.#path, method: method as 'POST', headers: this.#headers, body: this.#body },
      this,
    );
  }

  #mayRetry(): boolean {
    return this.#tried.length < this.#host.retries.most && this.#host.budget.spend();
  }

  #discard(reason: string): void {
    this.#discarded = true;
    this.replica!.breaker.failed(this.#host.nowMs());
    this.#abort?.(new Error(reason));
  }

  /** Gives this replica up and, after a pause that grows, asks for another. */
  #retry(): void {
    this.#release();
    this.#tried.push(this.replica!);
    this.#host.retried();
    const pause = this.#host.retries.backoffMs * 2 ** (this.#tried.length - 1) * (0.5 + this.#host.jitter() / 2);
    this.#retryTimer = setTimeout(() => this.#try(), pause);
  }

  /** Ends with an error: as an answer, or as the last event of a stream that has begun. */
  #fail(error: ApiError, outcome: Outcome): void {
    const response = this.#response;
    if (!response.headersSent) {
      this.status = error.status;
      sendError(response, error, this.facts.id);
    } else if (this.#streams) {
      response.end(`${this.#hasData && !this.#endsEvent ? '\n\n' : ''}data: ${JSON.stringify(errorBody(error))}\n\n`);
    } else {
      // The length was promised: only a cut connection says that the rest will not come.
      response.destroy();
    }
    this.#end(outcome);
  }

  readonly #clientClosed = (): void => {
    if (this.#ended) return;
    this.replica?.breaker.undecided();
    this.#end('client_left');
  };

  #end(outcome: Outcome): void {
    this.#ended = true;
    this.#response.off('close', this.#clientClosed);
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#release();
    if (outcome !== 'ok') this.#abort?.(new Error(outcome));
    this.#host.ended(this, outcome);
  }

  #release(): void {
    if (this.#placement === null) return;
    this.endpoint.finish(this.#placement);
    this.#placement = null;
  }
}

export function sendError(response: ServerResponse, error: ApiError, requestId: string): void {
  const body = JSON.stringify(errorBody(error));
  const headers = ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(body))];
  if (error.status === 503) headers.push('retry-after', '1');
  response.writeHead(error.status, [...headers, 'x-request-id', requestId]);
  response.end(body);
}

function flushHeaders(response: ServerResponse): void {
  if (!response.writableEnded && !response.destroyed) response.flushHeaders();
}

function isEventStream(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.length === 12 && headers[i]!.toLowerCase() === 'content-type') {
      return headers[i + 1]!.startsWith(EVENT_STREAM);
    }
  }
  return false;
}
