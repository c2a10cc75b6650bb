import { type ApiError, errorBody } from '../../protocol/errors.js';
import { Refusal } from '../access/refusal.js';
import type { HttpResponse } from '../http/http-response.js';

/**
 * Answers with an error, in OpenAI's shape.
 * @param more headers, flat
 */
export function sendError(
  response: HttpResponse,
  error: ApiError,
  requestId: string,
  more: readonly string[] = [],
): void {
  const body = Buffer.from(JSON.stringify(errorBody(error)));
  const headers = ['content-type', 'application/json', 'content-length', String(body.length), ...more];
  const afterS = error.retryAfterS ?? (error.status === 503 ? 1 : null);
  if (afterS !== null) headers.push('retry-after', String(afterS));
  if (error.status === 401) headers.push('www-authenticate', 'Bearer');
  if (error instanceof Refusal) headers.push(...error.headers);
  headers.push('x-request-id', requestId);
  response.writeHead(error.status, headers);
  response.end(body);
}
