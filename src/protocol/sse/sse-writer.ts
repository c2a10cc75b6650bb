/** Headers of a response that is a stream of events: proxies on the way must not cache or buffer it. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
} as const;

/** The event that ends a stream of OpenAI's kind. */
export const SSE_DONE = 'data: [DONE]\n\n';

/** One event. JSON contains no line ends, so one line is enough. */
export function sseEvent(json: string): string {
  return `data: ${json}\n\n`;
}

const DONE = Buffer.from('[DONE]');

/** Whether an event ends the stream. */
export function isDoneEvent(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from !== DONE.length) return false;
  for (let i = 0; i < DONE.length; i++) if (bytes[from + i] !== DONE[i]) return false;
  return true;
}
