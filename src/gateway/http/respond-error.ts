import { type ApiError, type ErrorShape, errorJson } from '../../protocol/errors.js';
import type { HttpResponse } from './http-response.js';

/**
 * Responds with an error.
 * @param more headers, flat
 */
export function respondError(
  response: HttpResponse,
  error: ApiError,
  requestId = '',
  shape: ErrorShape = 'openai',
  more: readonly string[] = [],
): void {
  const body = Buffer.from(errorJson(error, requestId, shape));
  const headers = ['content-type', 'application/json', 'content-length', String(body.length), ...more];
  response.writeHead(error.status, headers);
  response.end(body);
}
