import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, errorBody } from '../../protocol/errors.js';
import { internalError, noReplica, upstreamTimeout } from '../errors.js';
import type { Endpoint, Placement } from '../fleet/endpoint.js';
import type { LiveReplica } from '../fleet/live-replica.js';
import type { GatewayConfig } from '../gateway-config.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { ExchangeHost, Outcome } from './exchange-host.js';
import { downstreamHeaders, isEventStream, legalHeader, upstreamHeaders } from './headers.js';
import { sendError } from './send-error.js';
import { upstreamFailure } from './upstream-failure.js';

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
  status = 0;
  replica: LiveReplica | null = null;
  /** Where it stands in the list of those under way. */
  place = -1;
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
  /** Headers of an answer that the client has not got yet: as long as it has no byte, another replica can be tried. */
  #answer: string[] | null = null;
  /** The answer of this try is thrown away: another try follows. */
  #discarded = false;
  #streams = false;
  #hasData = false;
  #endsEvent = false;
  /** How often `check` has looked since something came. */
  #looks = 0;
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

  /** The client does not keep up: the replica waits for it. */
  get isHeld(): boolean {
    return this.#response.writableNeedDrain;
  }

  /** The time for the whole request is up. Whoever has answered something so far is merely slow. */
  timeOut(): void {
    if (!this.#ended) this.#giveUp('complete answer', !this.#hasData);
  }

  /**
   * Looks after the time, every so many milliseconds, so that no timer has to run for every piece. The wait for headers is not
   * watched here but by the connection, and the time that a slow client takes is not the replica's.
   */
  check(nowMs: number, everyMs: number, { firstByteMs, idleMs, totalMs }: GatewayConfig['timeouts']): void {
    if (this.#ended) return;
    // Of requests sent ahead on one connection only the first hears that it was closed.
    if (this.#request.socket.destroyed) this.#clientClosed();
    else if (nowMs - this.startedMs >= totalMs) this.timeOut();
    else if (this.status === 0 || this.isHeld) this.#looks = 0;
    else {
      const isFirst = this.#streams && !this.#hasData;
      if (this.#looks++ * everyMs >= (isFirst ? firstByteMs : idleMs)) {
        this.#giveUp(isFirst ? 'first byte' : 'further byte', true);
      }
    }
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
    headers.push('x-request-id', this.facts.id, 'x-twinyard-replica', this.replica!.headerId);
    headers.push('x-twinyard-decision', legalHeader(`${this.endpoint.policy.name}: ${this.#rule}`));
    this.#answer = headers;
    // A stream's headers go out at once, together with its first piece if that is here already.
    if (this.#streams) {
      this.#writeHead();
      process.nextTick(flushHeaders, this.#response);
    }
    return true;
  }

  #writeHead(): void {
    if (this.#host.isDraining) this.#response.shouldKeepAlive = false;
    this.#response.writeHead(this.status, this.#answer!);
    this.#answer = null;
  }

  onData(chunk: Buffer): boolean {
    if (this.#ended || this.#discarded) return true;
    this.#looks = 0;
    if (!this.#hasData) {
      this.#hasData = true;
      if (this.#answer !== null) this.#writeHead();
      this.endpoint.firstToken(this.#placement!);
    }
    if (this.#streams) this.#endsEvent = chunk[chunk.length - 1] === NEWLINE && chunk[chunk.length - 2] === NEWLINE;
    if (this.#response.write(chunk)) return true;
    this.#response.once('drain', this.#resume!);
    return false;
  }

  onComplete(): void {
    if (this.#ended) return;
    if (this.status >= 500) this.#blame();
    else this.replica!.breaker.succeeded(this.#placement!.request);
    if (this.#answer !== null) this.#writeHead();
    this.#response.end();
    this.#end(this.status < 400 ? 'ok' : this.status < 500 ? 'client_error' : 'upstream_error');
  }

  onError(error: Error): void {
    if (this.#ended) return;
    if (this.#discarded) {
      this.#retry();
      return;
    }
    this.#blame();
    if (!this.#response.headersSent && this.#mayRetry()) {
      this.#retry();
      return;
    }
    const failure = upstreamFailure(this.replica!.id, error);
    this.#fail(failure, failure.status === 504 ? 'timeout' : 'upstream_error');
  }

  #rule = '';

  #try(): void {
    const placement = this.#place();
    if (placement === undefined) return;
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

  /** Undefined when the request is not even worth a decision: it has been told so. */
  #place(): Placement | null | undefined {
    try {
      return this.endpoint.place(this.facts, this.#tried.length, this.#tried);
    } catch (error) {
      if (error instanceof ApiError) this.#fail(error, 'client_error');
      else {
        this.#host.fault(error);
        this.#fail(internalError(), 'fault');
      }
      return undefined;
    }
  }

  /** Whether there is time, somebody else and leave to try once more. */
  #mayRetry(): boolean {
    const { budget, retries } = this.#host;
    if (this.#tried.length >= retries.most) return false;
    return this.endpoint.hasOther(this.facts.model, this.#tried, this.replica!) && budget.spend();
  }

  #discard(reason: string): void {
    this.#discarded = true;
    this.#blame();
    this.#abort?.(new Error(reason));
  }

  /** The replica failed this request. */
  #blame(): void {
    this.replica!.breaker.failed(this.#placement!.request, this.#host.nowMs());
  }

  #giveUp(what: string, blamed: boolean): void {
    if (blamed && this.#placement !== null) this.#blame();
    this.#fail(upstreamTimeout(this.replica?.id ?? '', what), 'timeout');
  }

  /** Gives this replica up and, after a pause that grows, asks for another. */
  #retry(): void {
    this.#release();
    this.#tried.push(this.replica!);
    this.#abort = null;
    this.#answer = null;
    this.#streams = false;
    this.#looks = 0;
    this.status = 0;
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
    if (!this.#ended) this.#end('client_left');
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

function flushHeaders(response: ServerResponse): void {
  if (!response.writableEnded && !response.destroyed) response.flushHeaders();
}
