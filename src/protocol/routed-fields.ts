import { ApiError } from './errors.js';
import { isObject, type JsonObject } from './json/json-body.js';

/** What a gateway reads of a request of any kind; the engine validates the request. */
export interface RoutedFields {
  model: string;
  stream: boolean;
  /** Whether the body has stream options, and whether they request the chunk with usage. */
  hasStreamOptions: boolean;
  includeUsage: boolean;
  /** The client's limit of output tokens; null when it is missing or not a number. */
  maxTokens: number | null;
  n: number;
  /** The session of the request, if the body has one. */
  session: string | null;
  cacheSalt: string;
}

/** Only the model must be there and make sense: everything else that is malformed counts as absent. */
export function readRoutedFields(body: JsonObject): RoutedFields {
  const { model } = body;
  if (typeof model !== 'string' || model === '') {
    throw new ApiError('malformed', "'model' is required: name the model as a string.", 'model');
  }
  const options = body.stream_options;
  return {
    model,
    stream: body.stream === true,
    hasStreamOptions: options !== undefined,
    includeUsage: isObject(options) && options.include_usage === true,
    maxTokens: positive(body.max_completion_tokens) ?? positive(body.max_tokens) ?? positive(body.max_output_tokens),
    n: positive(body.n) ?? 1,
    session: text(body.prompt_cache_key) ?? text(body.user),
    cacheSalt: text(body.cache_salt) ?? '',
  };
}

function positive(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 2 ** 31 ? value : null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
