import type { ServerResponse } from 'node:http';
import { type ApiError, errorBody } from '../../protocol/errors.js';
import { Refusal } from '../access/refusal.js';

/** Answers with an error, in OpenAI's shape. */
export function sendError(response: ServerResponse, error: ApiError, requestId: string): void {
  const body = JSON.stringify(errorBody(error));
  const headers = ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(body))];
  const afterS = error.retryAfterS ?? (error.status === 503 ? 1 : null);
  if (afterS !== null) headers.push('retry-after', String(afterS));
  if (error.status === 401) headers.push('www-authenticate', 'Bearer');
  if (error instanceof Refusal) headers.push(...error.headers);
  headers.push('x-request-id', requestId);
  response.writeHead(error.status, headers);
  response.end(body);
}
