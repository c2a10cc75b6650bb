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

/** The body of an error, as OpenAI shapes it. */
export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | number | null };
}

export function errorBody({ kind, message, param }: ApiError): ErrorBody {
  const { type, code } = ERROR_KINDS[kind];
  return { error: { message, type, param, code } };
}

/** The kind of the error: a constant word. */
export function errorCode({ kind }: ApiError): string {
  return ERROR_KINDS[kind].code ?? kind;
}
