import type { HttpResponse } from '../http/http-response.js';
import type { AdminResponse, StreamedResponse, WholeResponse } from './admin-api.js';

const NEVER = new AbortController().signal;

/** Sends a response; resolves when the last piece of a stream has been sent, or `signal` is aborted. */
export async function sendAdminResponse(
  response: HttpResponse,
  answer: AdminResponse,
  signal: AbortSignal = NEVER,
): Promise<void> {
  if ('stream' in answer) await sendStream(response, answer, signal);
  else sendWhole(response, answer);
}

function sendWhole(response: HttpResponse, { body, headers = [], status, type }: WholeResponse): void {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(type === undefined ? `${JSON.stringify(body)}\n` : String(body));
  const length = ['content-length', String(bytes.length)];
  response.writeHead(status, [...usualHeaders(type ?? 'application/json', headers), ...length, ...headers]);
  response.end(bytes);
}

/** @param headers may have a `cache-control` of their own */
const usualHeaders = (type: string, headers: readonly string[] = []) => [
  ...['content-type', type, ...(headers.includes('cache-control') ? [] : ['cache-control', 'no-store'])],
  ...['x-content-type-options', 'nosniff'],
];

/** An error of the source cuts the response. */
async function sendStream(response: HttpResponse, answer: StreamedResponse, signal: AbortSignal): Promise<void> {
  const { headers = [], status, stream, type = 'text/event-stream' } = answer;
  response.writeHead(status, [...usualHeaders(type), ...headers]);
  response.flushHeaders();
  const pieces = stream[Symbol.asyncIterator]();
  const aborted = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  try {
    for (;;) {
      const next = await Promise.race([pieces.next(), aborted]);
      if (next === null || next.done === true) break;
      if (!response.write(next.value)) await Promise.race([drained(response), aborted]);
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    // A source that waits for its next piece ends when that comes, or by the signal.
    pieces.return?.().catch(() => {});
  }
}

function drained(response: HttpResponse): Promise<void> {
  return new Promise((resolve) => {
    response.onDrain = resolve;
  });
}
