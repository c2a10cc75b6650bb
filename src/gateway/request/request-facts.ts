import { createHash, randomFillSync } from 'node:crypto';
import { MOST_SLO_MS } from '../../policy/routing/parts/slo-targets.js';
import { audioSeconds } from '../../protocol/audio-length.js';
import type { BodyField, ScannedBody } from '../../protocol/body/scanned-body.js';
import { API_KINDS, type ApiKind } from '../../protocol/endpoints.js';
import { ApiError } from '../../protocol/errors.js';
import { isObject } from '../../protocol/json/json-body.js';
import type { HttpRequest } from '../http/http-request.js';
import type { ReceivedBody } from './arriving-body.js';
import { flatText } from './flat-text.js';
import type { LongPrompt } from './prompt-blocks.js';

/** What the gateway knows of a request before it decides: created once per request, kept until it has ended. */
export interface RequestFacts {
  /** The client's own id if it sent one. */
  id: string;
  kind: ApiKind;
  method: string;
  model: string;
  /** The only replica that can serve it, because it holds a stored response; empty where any can. */
  pinnedTo: string;
  inputTokens: number;
  /** Empty when the request belongs to no session. */
  session: string;
  sloClass: string;
  /** Targets for its time to first token and per further token; 0 for none. */
  sloTtftUs: number;
  sloTpotUs: number;
  /** The tenant in queues and budgets: the key's tenant, else the fairness id of the request; empty for none. */
  tenant: string;
  /** The public id of its key; empty where no keys are required. */
  keyId: string;
  /** The most output tokens of all its choices together; null where it sets no limit. */
  mostOutput: number | null;
  /** The response is requested as a stream. */
  streams: boolean;
  /** It streams without requesting the usage at the end. */
  hidesUsage: boolean;
  /** Prompts with different salts share no cache. */
  cacheSalt: string;
  /** The fields of the body. */
  body: ScannedBody;
  /** Its prompt, if that is so long that it was read in slices. */
  measured: LongPrompt | null;
  /** Characters to be spoken, and the estimated seconds of an audio file; 0 for requests of other kinds. */
  characters: number;
  audioSeconds: number;
}

/** Characters allowed in a response header and in a log. */
const PLAIN_ID = /^[\x21-\x7e]{1,128}$/;

/** A request with headers. */
type Headed = Pick<HttpRequest, 'header'>;

/** The client's request id if it is valid; otherwise a new one. */
export function requestIdOf(request: Headed): string {
  const given = request.header('x-request-id');
  return given !== undefined && PLAIN_ID.test(given) ? flatText(given) : newRequestId();
}

/**
 * Reads the facts of a request; throws an ApiError when it is invalid.
 * @param onlyModel the model of a request that names none; empty where it has to name one
 */
export function readFacts(
  id: string,
  kind: ApiKind,
  request: Headed,
  { body, file }: ReceivedBody,
  onlyModel = '',
): RequestFacts {
  const { cacheSalt, includeUsage, maxTokens, model, n, session, stream } = readRoutedFields(body, onlyModel);
  return {
    id,
    kind,
    method: 'POST',
    model,
    pinnedTo: '',
    inputTokens: 0,
    session: shortName(request.header('x-session-id') || (session ?? '')),
    sloClass: shortName(request.header('x-slo-class') || request.header('x-gateway-inference-objective') || 'standard'),
    sloTtftUs: targetUs(request.header('x-slo-ttft-ms')) || targetUs(request.header('x-llm-d-slo-ttft-ms')),
    sloTpotUs: targetUs(request.header('x-slo-tpot-ms')) || targetUs(request.header('x-llm-d-slo-tpot-ms')),
    tenant: shortName(request.header('x-gateway-inference-fairness-id') ?? ''),
    keyId: '',
    mostOutput: API_KINDS[kind].counts === 'input and output' ? (maxTokens === null ? null : maxTokens * n) : 0,
    streams: stream,
    hidesUsage: stream && !includeUsage && (kind === 'chat' || kind === 'completion'),
    cacheSalt,
    body,
    measured: null,
    characters: kind === 'speech' ? charactersOf(body) : 0,
    audioSeconds: file === null ? 0 : audioSeconds(file),
  };
}

/** What the gateway reads of the body of a request of any kind; the engine validates the request. */
interface RoutedFields {
  model: string;
  stream: boolean;
  /** Whether the stream ends with a chunk of usage. */
  includeUsage: boolean;
  /** The client's limit of output tokens; null when it is missing or not a number. */
  maxTokens: number | null;
  n: number;
  /** The session of the request, if the body has one. */
  session: string | null;
  cacheSalt: string;
}

/** Only the model must be there and make sense: everything else that is malformed counts as absent. */
export function readRoutedFields(body: ScannedBody, onlyModel = ''): RoutedFields {
  const model = body.value('model') ?? onlyModel;
  if (typeof model !== 'string' || model === '') {
    throw new ApiError('malformed', "'model' is required: name the model as a string.", 'model');
  }
  const options = body.value('stream_options');
  return {
    model,
    stream: body.value('stream') === true,
    includeUsage: isObject(options) && options.include_usage === true,
    maxTokens:
      positive(body, 'max_completion_tokens') ?? positive(body, 'max_tokens') ?? positive(body, 'max_output_tokens'),
    n: positive(body, 'n') ?? 1,
    session: nonEmpty(body, 'prompt_cache_key') ?? nonEmpty(body, 'user'),
    cacheSalt: nonEmpty(body, 'cache_salt') ?? '',
  };
}

const MILLISECONDS = /^\d{1,7}(?:\.\d{1,3})?$/;

/** A target in milliseconds, above 0 and at most an hour; like everything malformed, anything else counts as absent: 0. */
function targetUs(given: string | undefined): number {
  if (given === undefined || !MILLISECONDS.test(given)) return 0;
  const ms = Number(given);
  return ms <= MOST_SLO_MS ? ms * 1000 : 0;
}

/** Unicode characters to be spoken; half of a pair counts as one. A text that is too long to be parsed counts its bytes. */
function charactersOf(body: ScannedBody): number {
  const input = body.has('input') ? body.parse(body.begin('input'), body.end('input')) : null;
  if (input === undefined) return body.end('input') - body.begin('input');
  let count = 0;
  if (typeof input === 'string') for (const _ of input) count++;
  return count;
}

function positive(body: ScannedBody, field: BodyField): number | null {
  const value = body.value(field);
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 2 ** 31 ? value : null;
}

function nonEmpty(body: ScannedBody, field: BodyField): string | null {
  const value = body.value(field);
  return typeof value === 'string' && value !== '' ? value : null;
}

const MOST_CHARACTERS = 128;

/** Policies and lists of requests remember names: a very long one is replaced by its hash, to bound their memory. */
function shortName(name: string): string {
  if (name.length <= MOST_CHARACTERS) return flatText(name);
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
