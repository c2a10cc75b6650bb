import type { HttpResponse } from '../http/http-response.js';

/**
 * Sends pieces as they come, no faster than the client reads, until there are no more, the client has left or `signal` says so.
 * Whoever makes them is told that no more are wanted. Rejects with what he throws; the response is then cut.
 */
export async function sendStream(
  response: HttpResponse,
  pieces: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]();
  const aborted = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted]);
      if (next === null || next.done === true) break;
      if (!response.write(next.value)) await Promise.race([drained(response), aborted]);
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    // One that is waiting for its next piece hears this when it comes, or by the signal.
    iterator.return?.().catch(() => {});
  }
}

function drained(response: HttpResponse): Promise<void> {
  return new Promise((resolve) => {
    response.onDrain = resolve;
  });
}
