import { ApiError } from './errors.js';
import {
  isObject,
  type JsonObject,
  optionalFlag,
  optionalText,
  optionalWhole,
  requiredText,
  wrongType,
} from './json/json-body.js';

const MAX_TOKENS = 2 ** 31 - 1;
const MAX_CHOICES = 128;
const MAX_STOPS = 16;

/** The parameters of a chat or plain completion, besides its prompt. Other fields are ignored. */
export interface GenerationRequest {
  model: string;
  stream: boolean;
  /** The stream is to end with a chunk that holds the usage. */
  includeUsage: boolean;
  /** And every chunk is to hold the usage so far. */
  continuousUsage: boolean;
  /** Null when the request does not set it. */
  maxTokens: number | null;
  minTokens: number;
  /** Generate up to `maxTokens`, ignoring the end of sequence. */
  ignoreEos: boolean;
  /** The response ends before the first of these. */
  stop: readonly string[];
  includeStop: boolean;
  n: number;
  seed: number | null;
  /** Prompts under different salts share no cache. */
  cacheSalt: string;
  /** The prompt comes first in the response; plain completions only. */
  echo: boolean;
}

/** Throws an ApiError that names the invalid field. */
export function readGenerationRequest(body: JsonObject): GenerationRequest {
  const stream = optionalFlag(body, 'stream', false);
  const options = streamOptions(body, stream);
  const maxTokens =
    optionalWhole(body, 'max_completion_tokens', 1, MAX_TOKENS) ?? optionalWhole(body, 'max_tokens', 0, MAX_TOKENS);
  const minTokens = optionalWhole(body, 'min_tokens', 0, MAX_TOKENS) ?? 0;
  if (maxTokens !== null && minTokens > maxTokens) {
    throw new ApiError(
      'malformed',
      `min_tokens must be less than or equal to max_tokens=${maxTokens}, got ${minTokens}.`,
      'min_tokens',
    );
  }
  return {
    model: requiredText(body, 'model'),
    stream,
    ...options,
    maxTokens,
    minTokens,
    ignoreEos: optionalFlag(body, 'ignore_eos', false),
    stop: stops(body.stop),
    includeStop: optionalFlag(body, 'include_stop_str_in_output', false),
    n: optionalWhole(body, 'n', 1, MAX_CHOICES) ?? 1,
    seed: optionalWhole(body, 'seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    cacheSalt: optionalText(body, 'cache_salt') ?? '',
    echo: optionalFlag(body, 'echo', false),
  };
}

function streamOptions(body: JsonObject, stream: boolean) {
  const options = body.stream_options ?? null;
  if (options === null) return { includeUsage: false, continuousUsage: false };
  if (!isObject(options)) throw wrongType('stream_options', 'an object');
  if (!stream) {
    throw new ApiError('malformed', 'Stream options can only be defined when `stream=True`.', 'stream_options');
  }
  const includeUsage = optionalFlag(options, 'include_usage', false);
  return { includeUsage, continuousUsage: includeUsage && optionalFlag(options, 'continuous_usage_stats', false) };
}

function stops(value: unknown): readonly string[] {
  if (value == null) return [];
  const list = Array.isArray(value) ? value : [value];
  if (!list.every((one) => typeof one === 'string')) throw wrongType('stop', 'a string or a list of strings');
  if (list.includes('')) throw new ApiError('malformed', 'stop cannot contain an empty string.', 'stop');
  if (list.length > MAX_STOPS) throw wrongType('stop', `a list of at most ${MAX_STOPS} strings`);
  return list;
}
