import { SseScanner } from './sse-scanner.js';

/** One event of a stream. */
export interface ServerEvent {
  /** `message` when the stream gives none. */
  readonly event: string;
  readonly data: string;
}

/** The events of a stream as text, for chunks of any size and all line ends; events without data are skipped. */
export async function* serverEvents(stream: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const events: ServerEvent[] = [];
  const sink = {
    event(bytes: Uint8Array, from: number, to: number) {
      const data = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
      events.push({ event: scanner.eventName === '' ? 'message' : scanner.eventName, data });
    },
  };
  const scanner = new SseScanner(sink, undefined, true);
  for await (const piece of stream) {
    scanner.push(piece);
    yield* events.splice(0);
  }
}
