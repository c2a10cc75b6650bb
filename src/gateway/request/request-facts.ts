import { createHash, randomFillSync } from 'node:crypto';
import type { RequestBody } from '../../policy/request-features.js';
import type { ApiKind } from '../../protocol/endpoints.js';
import { parseJsonObject } from '../../protocol/json/json-body.js';
import { readRoutedFields } from '../../protocol/routed-fields.js';
import type { HttpRequest } from '../http/http-request.js';

/** What the gateway knows of a request before it decides: created once per request, kept until it has ended. */
export interface RequestFacts {
  /** The client's own id if it sent one. */
  id: string;
  kind: ApiKind;
  model: string;
  inputTokens: number;
  /** Empty when the request belongs to no session. */
  session: string;
  sloClass: string;
  /** The tenant in queues and budgets: the key's tenant, else the fairness id of the request; empty for none. */
  tenant: string;
  /** The public id of its key; empty where no keys are required. */
  keyId: string;
  /** The most output tokens of all its choices together; null where it sets no limit. */
  mostOutput: number | null;
  /** It streams without requesting the usage at the end. */
  hidesUsage: boolean;
  /** Prompts with different salts share no cache. */
  cacheSalt: string;
  body: RequestBody;
}

/** Characters allowed in a response header and in a log. */
const PLAIN_ID = /^[\x21-\x7e]{1,128}$/;

/** A request with headers. */
type Headed = Pick<HttpRequest, 'header'>;

/** The client's request id if it is valid; otherwise a new one. */
export function requestIdOf(request: Headed): string {
  const given = request.header('x-request-id');
  return given !== undefined && PLAIN_ID.test(given) ? given : newRequestId();
}

/** Reads the facts of a request; throws an ApiError when it is invalid. */
export function readFacts(id: string, kind: ApiKind, request: Headed, bytes: Buffer): RequestFacts {
  const body = parseJsonObject(bytes);
  const { cacheSalt, includeUsage, maxTokens, model, n, session, stream } = readRoutedFields(body);
  return {
    id,
    kind,
    model,
    inputTokens: 0,
    session: shortName(request.header('x-session-id') || (session ?? '')),
    sloClass: shortName(request.header('x-slo-class') || request.header('x-gateway-inference-objective') || 'standard'),
    tenant: shortName(request.header('x-gateway-inference-fairness-id') ?? ''),
    keyId: '',
    mostOutput: HAS_OUTPUT[kind] ? (maxTokens === null ? null : maxTokens * n) : 0,
    hidesUsage: stream && !includeUsage && (kind === 'chat' || kind === 'completion'),
    cacheSalt,
    body,
  };
}

/** Kinds whose responses have output tokens. */
const HAS_OUTPUT: Readonly<Record<ApiKind, boolean>> = {
  chat: true,
  completion: true,
  responses: true,
  messages: true,
  embedding: false,
  rerank: false,
  score: false,
};

const MOST_CHARACTERS = 128;

/** Policies remember names: a very long one is replaced by its hash, to bound their memory. */
function shortName(name: string): string {
  if (name.length <= MOST_CHARACTERS) return name;
  return `sha256:${createHash('sha256').update(name).digest('base64url')}`;
}

/** Random bytes for this many ids are fetched at once. */
const AHEAD = 256;
const BYTES = 16;
const DIGITS = Buffer.from('0123456789abcdef', 'latin1');
const HYPHENS = [8, 13, 18, 23];

const random = Buffer.allocUnsafeSlow(AHEAD * BYTES);
const text = Buffer.alloc(36, '-');
let next = random.length;

/**
 * A random UUID (version 4). The one of node:crypto is a rope of twenty strings that live as long as the id, which for
 * a request is long: copying them made up most of the garbage collector's pauses. This one is a flat string.
 */
export function newRequestId(): string {
  if (next === random.length) {
    randomFillSync(random);
    next = 0;
  }
  const from = next;
  next += BYTES;
  random[from + 6] = (random[from + 6]! & 0x0f) | 0x40;
  random[from + 8] = (random[from + 8]! & 0x3f) | 0x80;
  let at = 0;
  for (let i = 0; i < BYTES; i++) {
    const byte = random[from + i]!;
    if (at === HYPHENS[0] || at === HYPHENS[1] || at === HYPHENS[2] || at === HYPHENS[3]) at++;
    text[at++] = DIGITS[byte >> 4]!;
    text[at++] = DIGITS[byte & 15]!;
  }
  return text.toString('latin1', 0, 36);
}
