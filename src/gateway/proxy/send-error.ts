import type { ServerResponse } from 'node:http';
import { type ApiError, errorBody } from '../../protocol/errors.js';

/** Answers with an error, in OpenAI's shape. */
export function sendError(response: ServerResponse, error: ApiError, requestId: string): void {
  const body = JSON.stringify(errorBody(error));
  const headers = ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(body))];
  if (error.status === 503) headers.push('retry-after', '1');
  response.writeHead(error.status, [...headers, 'x-request-id', requestId]);
  response.end(body);
}
