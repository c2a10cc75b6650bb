import { Origin, type UpstreamTls } from './origin.js';
import { RequestEncoder, type RequestParts } from './request-encoder.js';
import { type ConnectionPool, UpstreamConnection } from './upstream-connection.js';
import { badRequest, busy, headersTimeout, poolClosed } from './upstream-error.js';
import { type Carrier, type UpstreamHandler, UpstreamRequest } from './upstream-request.js';

export interface UpstreamOptions {
  /** To reach the replica. */
  connectMs: number;
  /** Until the head of the response is received, from `dispatch` on. */
  headersMs: number;
  /** How long an unused connection is kept, or shorter if the replica says so. */
  keepAliveMs: number;
  mostConnections: number;
  /** Requests that may wait for a connection when all are in use. */
  mostWaiting: number;
  /** The largest head of a response. */
  headBytes: number;
  /** How long connections serve one request each after bytes that belong to no request; a minute unless given. */
  distrustMs?: number;
  /** For replicas with TLS. */
  tls?: UpstreamTls;
  /** Refuses addresses of this machine, its network segment and metadata services. */
  isGuarded?: boolean;
}

export interface UpstreamStats {
  connections: number;
  idle: number;
  waiting: number;
  /** Since the start. */
  opened: number;
  /** Requests sent again because the replica had closed an idle connection. */
  repeated: number;
}

const DISTRUST_MS = 60_000;
const MOST_SWEEP_MS = 250;
const LEAST_SWEEP_MS = 5;

/**
 * The connections to one replica: HTTP/1.1, one request at a time on each, the one used last taken first. It does only
 * what the gateway needs, which makes it cheap: little is allocated per request besides what the handler keeps, and one
 * timer serves all timeouts.
 */
export class UpstreamPool implements ConnectionPool, Carrier {
  readonly origin: Origin;
  readonly encoder: RequestEncoder;
  readonly headBytes: number;
  /** No more requests are accepted. */
  closed = false;
  destroyed = false;
  readonly #options: UpstreamOptions;
  readonly #connections: UpstreamConnection[] = [];
  readonly #idle: UpstreamConnection[] = [];
  readonly #line = new Set<UpstreamRequest>();
  /** Sockets that are not closed, those of lost connections included. */
  #sockets = 0;
  #distrustUntilMs = Number.NEGATIVE_INFINITY;
  #opened = 0;
  #repeated = 0;
  #sweeper: NodeJS.Timeout | null = null;
  readonly #gone: (() => void)[] = [];

  constructor(url: string, options: UpstreamOptions) {
    this.#options = options;
    this.origin = new Origin(url, options.tls, options.isGuarded);
    this.encoder = new RequestEncoder(this.origin.authority);
    this.headBytes = options.headBytes;
  }

  get stats(): UpstreamStats {
    return {
      connections: this.#connections.length,
      idle: this.#idle.length,
      waiting: this.#line.size,
      opened: this.#opened,
      repeated: this.#repeated,
    };
  }

  /** Sends a request. `onError` may be called before this returns, when it cannot be sent. */
  dispatch(parts: RequestParts, handler: UpstreamHandler): UpstreamRequest {
    const nowMs = performance.now();
    const request = new UpstreamRequest(parts, handler, nowMs + this.#options.headersMs);
    if (this.closed) request.fail(poolClosed());
    else {
      const connection = this.#takeIdle(nowMs);
      if (connection !== null) connection.send(request, nowMs);
      // Refused at once rather than after a connection was opened.
      else if (this.encoder.head(parts) < 0) request.fail(badRequest());
      else if (this.#connections.length < this.#options.mostConnections) this.#open(request, nowMs);
      else this.#queue(request);
    }
    return request;
  }

  /** Accepts no more requests; resolves when the present ones have ended. */
  close(): Promise<void> {
    this.closed = true;
    for (const connection of [...this.#idle]) connection.fail(poolClosed());
    return this.#whenGone();
  }

  /** Ends everything at once; resolves when the sockets are closed. */
  destroy(): Promise<void> {
    this.closed = true;
    this.destroyed = true;
    for (let next = this.#nextInLine(); next !== null; next = this.#nextInLine()) next.fail(poolClosed());
    for (const connection of [...this.#connections]) connection.fail(poolClosed());
    return this.#whenGone();
  }

  /** Applies the timeouts; the pool's own timer calls it several times within the shortest of them. */
  sweep(nowMs: number): void {
    for (let i = this.#connections.length - 1; i >= 0; i--) this.#connections[i]?.check(nowMs);
    for (const request of this.#line) {
      // All have the same timeout: later ones have more time left.
      if (nowMs < request.deadlineMs) return;
      this.#line.delete(request);
      request.fail(headersTimeout());
    }
  }

  // Called by connections, and by requests in the queue.

  released(connection: UpstreamConnection): void {
    const nowMs = performance.now();
    if (nowMs < this.#distrustUntilMs) {
      connection.fail(poolClosed());
      return;
    }
    const request = this.#nextInLine();
    if (request !== null) {
      connection.send(request, nowMs);
      return;
    }
    connection.rest(nowMs, this.#options.keepAliveMs);
    this.#idle.push(connection);
    if (this.closed) connection.fail(poolClosed());
  }

  lost(connection: UpstreamConnection, again: UpstreamRequest | null): void {
    const last = this.#connections.pop()!;
    if (last !== connection) {
      this.#connections[connection.place] = last;
      last.place = connection.place;
    }
    const idle = this.#idle.indexOf(connection);
    if (idle >= 0) this.#idle.splice(idle, 1);
    if (again !== null) this.#repeated++;
    const request = again ?? this.#nextInLine();
    if (request !== null) this.#open(request, performance.now());
  }

  /**
   * On a reused connection, bytes that arrive just after a request was written are taken for its response, whatever they
   * were meant to be: a replica that sends such bytes gets a new connection for every request.
   */
  distrust(): void {
    this.#distrustUntilMs = performance.now() + (this.#options.distrustMs ?? DISTRUST_MS);
    for (const connection of [...this.#idle]) connection.fail(poolClosed());
  }

  socketClosed(): void {
    this.#sockets--;
    this.#settle();
  }

  abandon(request: UpstreamRequest): void {
    this.#line.delete(request);
  }

  resume(): void {}

  #takeIdle(nowMs: number): UpstreamConnection | null {
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined) return null;
      if (nowMs < connection.deadlineMs) return connection;
      connection.check(nowMs);
    }
  }

  #open(request: UpstreamRequest, nowMs: number): void {
    this.#opened++;
    this.#sockets++;
    const connection = new UpstreamConnection(this, request, nowMs + this.#options.connectMs);
    connection.place = this.#connections.push(connection) - 1;
    if (this.#sweeper !== null) return;
    const { connectMs, headersMs, keepAliveMs } = this.#options;
    const everyMs = Math.min(connectMs, headersMs, keepAliveMs) / 4;
    const boundedMs = Math.max(LEAST_SWEEP_MS, Math.min(MOST_SWEEP_MS, everyMs));
    this.#sweeper = setInterval(() => this.sweep(performance.now()), boundedMs).unref();
  }

  #queue(request: UpstreamRequest): void {
    if (this.#line.size >= this.#options.mostWaiting) {
      request.fail(busy(this.#line.size));
      return;
    }
    request.carrier = this;
    this.#line.add(request);
  }

  #nextInLine(): UpstreamRequest | null {
    for (const request of this.#line) {
      this.#line.delete(request);
      return request;
    }
    return null;
  }

  #whenGone(): Promise<void> {
    return new Promise((resolve) => {
      this.#gone.push(resolve);
      this.#settle();
    });
  }

  /** The timer runs while there are sockets. The queue is empty when there is no connection. */
  #settle(): void {
    if (this.#sockets > 0) return;
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    this.#sweeper = null;
    if (!this.closed) return;
    for (const resolve of this.#gone.splice(0)) resolve();
  }
}
