import type { Attributes, Context, HrTime, Span, SpanKind, Tracer } from '@opentelemetry/api';
import type { IdGenerator } from '@opentelemetry/sdk-trace-node';
import { API_KINDS, pathOf } from '../../../protocol/endpoints.js';
import type { FinishedRequest } from '../../request/request-record.js';
import type { RandomIds } from './random-ids.js';
import type { TraceContext } from './trace-context.js';

type Api = typeof import('@opentelemetry/api');

/** Outcomes that are errors of the gateway or the replica, whatever status had been sent by then. */
const BROKEN: ReadonlySet<string> = new Set(['upstream_error', 'timeout', 'fault']);

/** Ids are assigned when the request begins; the SDK takes the next span's id from here. */
export class GivenIds implements IdGenerator {
  traceId = '';
  spanId = '';

  generateTraceId(): string {
    return this.traceId;
  }

  generateSpanId(): string {
    return this.spanId;
  }
}

export interface SpanParts {
  api: Api;
  tracer: Tracer;
  given: GivenIds;
  random: RandomIds;
  /** The beginning of the gateway's clock, since 1970. */
  epochUs: number;
}

/** The spans of a request: itself, its wait in the queue, and each attempt. */
export function spanCount({ dispatchedUs, failedAttempts, queuedUs }: FinishedRequest): number {
  return 1 + (queuedUs > 0 ? 1 : 0) + failedAttempts.length + (dispatchedUs >= 0 ? 1 : 0);
}

/** Creates the spans of ended requests from their recorded times. */
export class RequestSpans {
  readonly #parts: SpanParts;

  constructor(parts: SpanParts) {
    this.#parts = parts;
  }

  write(request: FinishedRequest, trace: TraceContext): void {
    const { api } = this.#parts;
    const { arrivedUs, dispatchedUs, endedUs, failedAttempts, firstTokenUs, queuedUs } = request;
    const isBroken = request.status >= 500 || BROKEN.has(request.outcome);
    this.#given(trace.traceId, trace.spanId);
    const { operation } = API_KINDS[request.kind];
    const span = this.#start(
      `${request.method} ${pathOf(request.kind)}`,
      api.SpanKind.SERVER,
      arrivedUs,
      requestAttributes(request),
      this.#above(trace),
    );
    if (firstTokenUs >= 0) span.addEvent('first_token', this.#time(firstTokenUs));
    this.#end(span, endedUs, isBroken ? request.outcome : '', request.cause);

    const below = this.#context(trace, trace.spanId, false);
    const child = (name: string, kind: SpanKind, fromUs: number, attributes: Attributes): Span => {
      this.#given(trace.traceId, this.#parts.random.spanId());
      return this.#start(name, kind, fromUs, attributes, below);
    };
    if (queuedUs > 0) {
      // It waited until it was first sent to a replica, or was never sent.
      const outUs = failedAttempts[0]?.dispatchedUs ?? (dispatchedUs < 0 ? endedUs : dispatchedUs);
      this.#end(child('queue', api.SpanKind.INTERNAL, outUs - queuedUs, {}), outUs, '', '');
    }
    const name = `${operation} ${request.model}`;
    for (const { cause, dispatchedUs: sentUs, endedUs: gaveUpUs, replicaId } of failedAttempts) {
      const failed = child(name, api.SpanKind.CLIENT, sentUs, { 'twinyard.replica': replicaId });
      this.#end(failed, gaveUpUs, cause, cause);
    }
    if (dispatchedUs < 0) return;
    const last = child(name, api.SpanKind.CLIENT, dispatchedUs, { 'twinyard.replica': request.replicaId });
    this.#end(last, endedUs, isBroken ? request.outcome : '', request.cause);
  }

  #given(traceId: string, spanId: string): void {
    this.#parts.given.traceId = traceId;
    this.#parts.given.spanId = spanId;
  }

  #start(name: string, kind: SpanKind, fromUs: number, attributes: Attributes, context: Context): Span {
    return this.#parts.tracer.startSpan(name, { kind, attributes, startTime: this.#time(fromUs) }, context);
  }

  /** @param error its type; empty for success */
  #end(span: Span, untilUs: number, error: string, message: string): void {
    if (error !== '') {
      span.setAttribute('error.type', error);
      span.setStatus({ code: this.#parts.api.SpanStatusCode.ERROR, message });
    }
    span.end(this.#time(untilUs));
  }

  /** The caller's span, if there is one. */
  #above(trace: TraceContext): Context {
    return trace.parentSpanId === '' ? this.#parts.api.ROOT_CONTEXT : this.#context(trace, trace.parentSpanId, true);
  }

  #context({ traceId, traceState }: TraceContext, spanId: string, isRemote: boolean): Context {
    const { ROOT_CONTEXT, TraceFlags, createTraceState, trace } = this.#parts.api;
    const state = traceState === '' ? {} : { traceState: createTraceState(traceState) };
    return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, isRemote, traceFlags: TraceFlags.SAMPLED, ...state });
  }

  #time(us: number): HrTime {
    const sinceUs = Math.round(this.#parts.epochUs + us);
    return [Math.floor(sinceUs / 1e6), (sinceUs % 1e6) * 1000];
  }
}

function requestAttributes(request: FinishedRequest): Attributes {
  const { operation } = API_KINDS[request.kind];
  const attributes: Attributes = {
    'http.request.method': request.method,
    'http.route': pathOf(request.kind),
    'http.response.status_code': request.status,
    'gen_ai.operation.name': operation,
    'gen_ai.request.model': request.model,
    'twinyard.request_id': request.id,
    'twinyard.endpoint': request.endpoint.name,
    'twinyard.outcome': request.outcome,
    'twinyard.attempts': request.attempts,
    'twinyard.streamed': request.isStreamed,
  };
  if (request.replicaId !== '') attributes['twinyard.replica'] = request.replicaId;
  if (request.policy !== '') attributes['twinyard.policy'] = request.policy;
  if (request.rule !== '') attributes['twinyard.rule'] = request.rule;
  if (request.cause !== '') attributes['twinyard.cause'] = request.cause;
  if (!request.isMetered) return attributes;
  attributes['gen_ai.usage.input_tokens'] = request.inputTokens;
  attributes['gen_ai.usage.cache_read.input_tokens'] = request.cachedTokens;
  attributes['gen_ai.usage.output_tokens'] = request.outputTokens;
  attributes['gen_ai.usage.reasoning.output_tokens'] = request.reasoningTokens;
  return attributes;
}
