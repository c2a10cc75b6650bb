/** The kinds of error an OpenAI-compatible server responds with: the status, and the type and code clients look for. */
export const ERROR_KINDS = {
  malformed: { status: 400, type: 'invalid_request_error', code: null },
  unauthorized: { status: 401, type: 'authentication_error', code: 'invalid_api_key' },
  forbidden: { status: 403, type: 'permission_error', code: 'forbidden' },
  unknown_model: { status: 404, type: 'invalid_request_error', code: 'model_not_found' },
  unknown_path: { status: 404, type: 'invalid_request_error', code: 'not_found' },
  wrong_method: { status: 405, type: 'invalid_request_error', code: 'method_not_allowed' },
  request_timeout: { status: 408, type: 'timeout_error', code: 'request_timeout' },
  too_large: { status: 413, type: 'invalid_request_error', code: 'request_too_large' },
  expectation_failed: { status: 417, type: 'invalid_request_error', code: 'expectation_failed' },
  headers_too_large: { status: 431, type: 'invalid_request_error', code: 'headers_too_large' },
  limited: { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  out_of_budget: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  over_limit: { status: 429, type: 'rate_limit_error', code: 'request_too_large_for_limit' },
  internal: { status: 500, type: 'server_error', code: 'internal_error' },
  upstream_broke: { status: 502, type: 'server_error', code: 'upstream_error' },
  unavailable: { status: 503, type: 'server_error', code: 'unavailable' },
  upstream_timeout: { status: 504, type: 'timeout_error', code: 'upstream_timeout' },
  queue_timeout: { status: 504, type: 'timeout_error', code: 'queue_timeout' },
} as const;

export type ErrorKind = keyof typeof ERROR_KINDS;

/** The error of a request as its client receives it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly kind: ErrorKind,
    message: string,
    /** The invalid field of the request. */
    readonly param: string | null = null,
    /** Whole seconds after which a retry may succeed, for the header `retry-after`; null when it is unknown. */
    readonly retryAfterS: number | null = null,
  ) {
    super(message);
  }

  get status(): number {
    return ERROR_KINDS[this.kind].status;
  }
}

/** The shape of errors that a client expects. */
export type ErrorShape = 'openai' | 'anthropic';

/** The body of an error, as OpenAI shapes it. */
export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | number | null };
}

export function errorBody({ kind, message, param }: ApiError): ErrorBody {
  const { type, code } = ERROR_KINDS[kind];
  return { error: { message, type, param, code } };
}

/** The type of an error at Anthropic, by status; any other 4xx is an invalid request, any other 5xx an API error. */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** The body of an error, as Anthropic shapes it. */
export interface AnthropicErrorBody {
  type: 'error';
  error: { type: string; message: string };
  request_id: string;
}

export function anthropicErrorBody({ message, status }: ApiError, requestId: string): AnthropicErrorBody {
  const type = ANTHROPIC_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return { type: 'error', error: { type, message }, request_id: requestId };
}

/** The body of an error as JSON, in the shape that its client expects. */
export function errorJson(error: ApiError, requestId: string, shape: ErrorShape): string {
  return JSON.stringify(shape === 'openai' ? errorBody(error) : anthropicErrorBody(error, requestId));
}

/** The kind of the error: a constant word. */
export function errorCode({ kind }: ApiError): string {
  return ERROR_KINDS[kind].code ?? kind;
}
