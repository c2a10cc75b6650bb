import type { HttpResponse } from './http-response.js';

/** Answers with a text, for tests. */
export function reply(response: HttpResponse, text: string, status = 200): void {
  response.writeHead(status, ['content-length', String(Buffer.byteLength(text))]);
  response.end(text);
}
