import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Gateway } from '../src/gateway/gateway.js';
import { SseScanner } from '../src/protocol/sse/sse-scanner.js';
import { ask, expectIdle, gatewayOver, PROMPT, RawReplica } from './support/gateway-fixture.js';

/** Events of every kind: line ends of every kind, several lines, comments, other fields, bytes that are no text. */
const STREAM = Buffer.concat([
  Buffer.from(': hello\n\ndata: {"a":"é😀"}\n\nevent: x\r\ndata: 1\r\ndata: 2\r\n\r\nid: 7\rdata:3\r\rdata: '),
  Buffer.of(0xff, 0xfe, 0x00, 0xc3),
  Buffer.from('\n\ndata: [DONE]\n\n'),
]);

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

/** A body in pieces as HTTP frames them. */
function chunked(pieces: readonly Buffer[]): Buffer {
  const framed = pieces.flatMap((piece) => [
    Buffer.from(`${piece.length.toString(16)}\r\n`),
    piece,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([Buffer.from(HEAD), ...framed, Buffer.from('0\r\n\r\n')]);
}

/** A buffer cut at some places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places)].filter((at) => at > 0 && at < bytes.length).sort((a, b) => a - b);
  return [0, ...ends].map((from, i) => bytes.subarray(from, ends[i] ?? bytes.length));
}

/** Sends pieces so that each is read separately. */
function sending(replica: RawReplica, pieces: readonly Buffer[], then: 'stay' | 'cut' = 'stay'): void {
  replica.response = async ({ socket }) => {
    socket.setNoDelay(true);
    for (const piece of pieces) {
      await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (then === 'cut') socket.destroy();
  };
}

async function received(gateway: Gateway): Promise<Buffer> {
  const response = await ask(gateway, PROMPT);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

describe('a stream through the gateway is byte for byte what the replica sent', () => {
  test('wherever it is split in two, event or framing', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    for (let at = 1; at < STREAM.length; at++) {
      sending(replica, [chunked(cut(STREAM, [at]))]);
      expect((await received(gateway)).equals(STREAM), `chunks split at ${at}`).toBe(true);
    }
    const whole = chunked(cut(STREAM, [20, 50]));
    for (let at = HEAD.length; at < whole.length; at++) {
      sending(replica, cut(whole, [at]));
      expect((await received(gateway)).equals(STREAM), `segments split at ${at}`).toBe(true);
    }
    expectIdle(gateway);
  });

  test('into however many pieces', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    sending(replica, cut(chunked(cut(STREAM, [...STREAM.keys()])), [...new Array(3000).keys()]));
    expect((await received(gateway)).equals(STREAM)).toBe(true);
    const places = fc.array(fc.nat({ max: 400 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(places, places, async (chunks, segments) => {
        sending(replica, cut(chunked(cut(STREAM, chunks)), segments));
        expect((await received(gateway)).equals(STREAM)).toBe(true);
      }),
      { numRuns: 60 },
    );
    expectIdle(gateway);
  });

  test('and where the replica breaks off, an error event follows', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica], { breaker: { failures: 1e9, share: 1, windowMs: 0, openMs: 0 } });
    for (let at = 1; at < STREAM.length; at++) {
      const sent = STREAM.subarray(0, at);
      const framed = chunked([sent]);
      sending(replica, [framed.subarray(0, framed.length - 5)], 'cut');
      const got = await received(gateway);
      expect(got.subarray(0, at).equals(sent), `cut at ${at}`).toBe(true);
      expect(JSON.parse(lastEvent(got)), `cut at ${at}`).toMatchObject({ error: { code: 'upstream_error' } });
    }
    expectIdle(gateway);
  });
});

/** The data of the last event that a client receives. */
function lastEvent(stream: Buffer): string {
  let last = '';
  const scanner = new SseScanner({
    event(bytes, from, to) {
      last = Buffer.from(bytes.subarray(from, to)).toString();
    },
  });
  scanner.push(stream);
  expect(scanner.unfinished).toBe(false);
  return last;
}
