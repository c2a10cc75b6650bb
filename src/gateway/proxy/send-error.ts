import type { ApiError, ErrorShape } from '../../protocol/errors.js';
import { Refusal } from '../access/limits/refusal.js';
import type { HttpResponse } from '../http/http-response.js';
import { respondError } from '../http/respond-error.js';

/**
 * Responds to a request with an error, with its request id and, if known, when to retry.
 * @param more headers, flat
 */
export function sendError(
  response: HttpResponse,
  error: ApiError,
  requestId: string,
  shape: ErrorShape,
  more: readonly string[] = [],
): void {
  const headers = [...more];
  const afterS = error.retryAfterS ?? (error.status === 503 ? 1 : null);
  if (afterS !== null) headers.push('retry-after', String(afterS));
  if (error.status === 401) headers.push('www-authenticate', 'Bearer');
  if (error instanceof Refusal) headers.push(...error.headers);
  headers.push('x-request-id', requestId);
  respondError(response, error, requestId, shape, headers);
}
