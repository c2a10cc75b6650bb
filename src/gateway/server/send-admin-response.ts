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
  const waiter = new AbortWaiter(signal);
  try {
    for (;;) {
      const next = await waiter.first(pieces.next());
      if (next === null || next.done === true) break;
      if (!response.write(next.value)) await waiter.first(drained(response));
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    waiter.close();
    // A source that waits for its next piece ends when that comes, or by the signal.
    pieces.return?.().catch(() => {});
  }
}

function drained(response: HttpResponse): Promise<void> {
  return new Promise((resolve) => {
    response.onDrain = resolve;
  });
}

/**
 * Waits for promises, one after the other, until a signal is aborted. `Promise.race` with a promise of the signal would keep the
 * result of every race until that is settled: here the signal wakes only the wait that is under way.
 */
class AbortWaiter {
  readonly #signal: AbortSignal;
  #wake: () => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#aborted, { once: true });
  }

  /** What a promise resolves with; null when the signal is aborted first. */
  first<Value>(promise: Promise<Value>): Promise<Value | null> {
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(null);
      if (this.#signal.aborted) resolve(null);
      promise.then(resolve, reject);
    });
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#aborted);
  }

  readonly #aborted = (): void => this.#wake();
}
