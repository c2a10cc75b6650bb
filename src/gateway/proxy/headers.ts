import { appendLimitHeaders } from '../access/limits/limit-headers.js';
import type { Reservation } from '../access/limits/reservation.js';
import type { HttpRequest } from '../http/http-request.js';
import { legalHeader } from '../request/legal-header.js';
import type { FinishedRequest } from '../request/request-record.js';
import { LOAD_HEADER, LOAD_REQUEST } from '../signals/load-header.js';
import type { TraceContext } from '../telemetry/tracing/trace-context.js';

/** Headers that belong to one connection and not to the message; both directions. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Headers that the gateway sets itself or does not pass to a replica. A compressed response could not be metered. The
 * load of replicas is only for the gateway.
 */
const REPLACED_UPSTREAM = new Set([
  ...HOP_BY_HOP,
  'host',
  'content-length',
  'expect',
  'x-request-id',
  'authorization',
  'x-api-key',
  'accept-encoding',
  'x-forwarded-for',
  LOAD_REQUEST[0],
]);
/** Where a request comes from, as proxies report it: passed on from trusted ones only. */
const FORWARDED = new Set(['forwarded', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto', 'x-real-ip']);
const TRACE_CONTEXT = new Set(['traceparent', 'tracestate']);

/**
 * Headers that the gateway sets itself, and those with which a replica would speak for the site of the gateway: cookies,
 * and which pages may read its responses.
 */
const REPLACED_DOWNSTREAM = new Set([
  ...HOP_BY_HOP,
  'set-cookie',
  'set-cookie2',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-allow-private-network',
  'access-control-expose-headers',
  'access-control-max-age',
  'x-request-id',
  'x-twinyard-replica',
  'x-twinyard-decision',
  LOAD_HEADER,
]);

/**
 * The client's headers as a replica gets them, flat: name, value, name, value. The client's key is for the gateway and
 * is not passed to replicas; `x-forwarded-for` is the client's address as the gateway knows it.
 */
export function upstreamHeaders(
  { forwardedFor, isForwarded, rawHeaders }: Pick<HttpRequest, 'rawHeaders' | 'forwardedFor' | 'isForwarded'>,
  requestId: string,
  trace: TraceContext | null,
): string[] {
  const named = connectionHeaders(rawHeaders);
  const headers: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const lower = name.toLowerCase();
    if (REPLACED_UPSTREAM.has(lower) || named?.has(lower)) continue;
    if (trace !== null && TRACE_CONTEXT.has(lower)) continue;
    if (!isForwarded && FORWARDED.has(lower)) continue;
    headers.push(name, rawHeaders[i + 1]!);
  }
  headers.push('x-request-id', requestId);
  if (forwardedFor !== '') headers.push('x-forwarded-for', forwardedFor);
  if (trace !== null) {
    headers.push('traceparent', trace.traceParentForUpstream);
    if (trace.traceState !== '') headers.push('tracestate', trace.traceState);
  }
  return headers;
}

/**
 * The headers of a response as the client gets them: the replica's, then the request id, the replica, the decision and
 * the remaining limits of the key.
 */
export function clientHeaders(
  raw: readonly string[],
  { id, policy, rule }: Pick<FinishedRequest, 'id' | 'policy' | 'rule'>,
  replicaId: string,
  reservation: Reservation | null,
): string[] {
  const headers = downstreamHeaders(raw);
  headers.push('x-request-id', id, 'x-twinyard-replica', replicaId);
  headers.push('x-twinyard-decision', decisionHeader(policy, rule));
  if (reservation !== null) appendLimitHeaders(headers, reservation);
  return headers;
}

/** The replica's headers without those that belong to its connection or to the gateway. */
export function downstreamHeaders(raw: readonly string[]): string[] {
  const headers: string[] = [];
  let named: Set<string> | null = null;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!;
    const lower = name.toLowerCase();
    if (lower === 'connection') {
      // These two name no header; most responses have one of them.
      if (raw[i + 1] !== 'keep-alive' && raw[i + 1] !== 'close') named = addNamed(named, raw[i + 1]!);
    } else if (!REPLACED_DOWNSTREAM.has(lower)) headers.push(name, raw[i + 1]!);
  }
  return named === null ? headers : without(headers, named);
}

/** The value of a header, flat headers, its name in lower case; undefined without it. */
export function headerValue(headers: readonly string[], lower: string): string | undefined {
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (headers[i]!.length === lower.length && headers[i]!.toLowerCase() === lower) return headers[i + 1];
  }
  return undefined;
}

/** Headers that promise no length. */
export function withoutLength(headers: string[]): string[] {
  return headerValue(headers, 'content-length') === undefined ? headers : without(headers, LENGTH);
}

const LENGTH: ReadonlySet<string> = new Set(['content-length']);
/** The last result; the next is most often the same. */
const last = { policy: '', rule: '', header: '' };

/** How a replica was chosen, as a header value. */
export function decisionHeader(policy: string, rule: string): string {
  if (policy !== last.policy || rule !== last.rule) {
    last.policy = policy;
    last.rule = rule;
    last.header = legalHeader(`${policy}: ${rule}`);
  }
  return last.header;
}

/** `connection: x-thing` makes x-thing a connection header too. */
function connectionHeaders(rawHeaders: readonly string[]): Set<string> | null {
  let named: Set<string> | null = null;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    named = addNamed(named, rawHeaders[i + 1]!);
  }
  return named;
}

function addNamed(before: Set<string> | null, value: string): Set<string> | null {
  let named = before;
  for (const part of value.split(',')) {
    const one = part.trim().toLowerCase();
    if (one === 'keep-alive' || one === 'close' || one === '') continue;
    named ??= new Set();
    named.add(one);
  }
  return named;
}

function without(headers: readonly string[], named: ReadonlySet<string>): string[] {
  return headers.filter((_, i) => !named.has(headers[i - (i % 2)]!.toLowerCase()));
}
