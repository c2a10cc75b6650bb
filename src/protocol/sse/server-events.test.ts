import { describe, expect, test } from 'vitest';
import { type ServerEvent, serverEvents } from './server-events.js';

const STREAM =
  ': \n\nid: 1\nevent: created\ndata: {"a":"ü"}\n\ndata: b\ndata:c\n\nevent: none\n\nevents: x\ndata\n\ndata: cut';

async function read(bytes: Buffer, size: number): Promise<ServerEvent[]> {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const events: ServerEvent[] = [];
  for await (const event of serverEvents(pieces())) events.push(event);
  return events;
}

describe('serverEvents', () => {
  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('reads lines that end in %s, however the stream is cut', async (_, end) => {
    const bytes = Buffer.from(STREAM.replaceAll('\n', end));
    for (const size of [1, 2, 7, bytes.length]) {
      expect(await read(bytes, size)).toEqual([
        { event: 'created', data: '{"a":"ü"}' },
        { event: 'message', data: 'b\nc' },
        { event: 'message', data: '' },
      ]);
    }
  });
});
