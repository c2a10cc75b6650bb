import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { RequestBody } from '../../policy/request-features.js';
import { optionalFlag, parseJsonObject, requiredText } from '../../protocol/json-body.js';

/** What the gateway knows of a request before it decides: made once per request, kept until it has ended. */
export interface RequestFacts {
  /** The client's own id if it sent one. */
  id: string;
  model: string;
  inputTokens: number;
  /** Empty when the request belongs to no chat. */
  session: string;
  sloClass: string;
  body: RequestBody;
  /** The client reads the answer as a stream. */
  streams: boolean;
}

/** What may stand in a header we send back, and in a log. */
const PLAIN_ID = /^[\x21-\x7e]{1,128}$/;

/** The client's id for a request, if it is one; else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && PLAIN_ID.test(given) ? given : randomUUID();
}

/** Reads what a request says of itself; throws an ApiError when it is not a request. */
export function readFacts(id: string, headers: IncomingHttpHeaders, bytes: Buffer): RequestFacts {
  const body = parseJsonObject(bytes);
  return {
    id,
    model: requiredText(body, 'model'),
    inputTokens: 0,
    session: firstText(headers['x-session-id'], body.prompt_cache_key, body.user),
    sloClass: firstText(headers['x-slo-class'], headers['x-gateway-inference-objective']) || 'standard',
    body,
    streams: optionalFlag(body, 'stream', false),
  };
}

function firstText(...candidates: unknown[]): string {
  for (const candidate of candidates) if (typeof candidate === 'string' && candidate !== '') return candidate;
  return '';
}
