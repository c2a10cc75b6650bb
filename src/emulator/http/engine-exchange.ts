import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { API_PATHS, errorShape } from '../../protocol/endpoints.js';
import { ApiError, anthropicErrorBody } from '../../protocol/errors.js';
import type { JsonObject } from '../../protocol/json/json-body.js';
import type { Engine } from '../engine.js';
import { engineErrorBody } from '../errors.js';

/** One request and its response. */
export class EngineExchange {
  readonly engine: Engine;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** When its head had been read, in the model's time. */
  readonly arrivedUs: number;
  /** Seconds since 1970, for the `created` field of responses. */
  readonly created = Math.floor(Date.now() / 1000);

  constructor(engine: Engine, request: IncomingMessage, response: ServerResponse) {
    this.engine = engine;
    this.request = request;
    this.response = response;
    this.arrivedUs = engine.live.nowUs();
  }

  /** The response id, derived from the client's request id if there is one. */
  id(prefix: string): string {
    return `${prefix}-${this.#clientId ?? randomUUID().replaceAll('-', '')}`;
  }

  sendJson(status: number, body: JsonObject, headers: OutgoingHttpHeaders = {}): void {
    this.sendText(status, 'application/json', JSON.stringify(body), headers);
  }

  sendText(status: number, type: string, text: string, headers: OutgoingHttpHeaders = {}): void {
    if (this.response.destroyed) return;
    this.response.writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      ...this.commonHeaders(),
      ...headers,
    });
    this.response.end(text);
  }

  /** Responds with an error. */
  fail(error: unknown): void {
    const known = error instanceof ApiError ? error : new ApiError('internal', String(error));
    // The rest of a body that is too large is not read.
    const headers = known.kind === 'too_large' ? { connection: 'close' } : {};
    const [path = ''] = (this.request.url ?? '').split('?', 1);
    const isAnthropic = errorShape(API_PATHS.get(path) ?? 'chat') === 'anthropic';
    const body = isAnthropic ? anthropicErrorBody(known, this.id('req')) : engineErrorBody(known);
    this.sendJson(known.status, { ...body }, headers);
  }

  /** Echoes the client's request id, and adds the load of the engine if requested. */
  commonHeaders(): OutgoingHttpHeaders {
    const headers: OutgoingHttpHeaders = {};
    if (this.#clientId !== undefined) headers['x-request-id'] = this.#clientId;
    const load = this.#load();
    if (load !== null) headers['endpoint-load-metrics'] = load;
    return headers;
  }

  get #clientId(): string | undefined {
    const given = this.request.headers['x-request-id'];
    return typeof given === 'string' && given !== '' ? given : undefined;
  }

  #load(): string | null {
    const format = this.request.headers['endpoint-load-metrics-format'];
    if (typeof format !== 'string') return null;
    const { live, metrics } = this.engine;
    const named = { kv_cache_usage_perc: metrics.kvUsage, num_requests_waiting: live.replica.queueDepth };
    if (format.toLowerCase() === 'json') return `JSON ${JSON.stringify({ named_metrics: named })}`;
    if (format.toLowerCase() !== 'text') return null;
    const pairs = Object.entries(named).map(([name, value]) => `named_metrics.${name}=${value}`);
    return `TEXT ${pairs.join(', ')}`;
  }
}
