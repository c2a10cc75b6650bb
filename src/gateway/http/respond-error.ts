import { type ApiError, errorBody } from '../../protocol/errors.js';
import type { HttpResponse } from './http-response.js';

/**
 * Responds with an error, in OpenAI's shape.
 * @param more headers, flat
 */
export function respondError(response: HttpResponse, error: ApiError, more: readonly string[] = []): void {
  const body = Buffer.from(JSON.stringify(errorBody(error)));
  const headers = ['content-type', 'application/json', 'content-length', String(body.length), ...more];
  response.writeHead(error.status, headers);
  response.end(body);
}
