import { describe, expect, it } from 'vitest';
import { asBuffers, ILLEGAL, NO_ROOM, ResponseWriter } from './response-writer.js';

const HEAD = 'HTTP/1.1 200 OK\r\na: b\r\n\r\n';

/** Both ways to write a response. */
function both(head: string, lines: number, piece: Buffer, isChunked: boolean, isLast: boolean): string[] {
  const writer = new ResponseWriter();
  const length = writer.put(head, lines, piece, isChunked, isLast);
  const buffers = asBuffers(head, lines, piece, isChunked, isLast);
  return [
    length === ILLEGAL ? 'illegal' : writer.bytes.toString('latin1', 0, length),
    buffers === null ? 'illegal' : Buffer.concat(buffers).toString('latin1'),
  ];
}

describe('ResponseWriter', () => {
  it.each<[string, number, boolean, boolean, string]>([
    [HEAD, 3, false, true, 'x'],
    [HEAD, 10, true, false, 'a\r\n'],
    ['', 16, true, true, '10\r\n'],
    ['', 4095, true, true, 'fff\r\n'],
  ])('puts %j before %i bytes, chunked %s, last %s', (head, size, isChunked, isLast, framed) => {
    const piece = Buffer.alloc(size, 'x');
    const body = isChunked ? `${framed}${piece}\r\n${isLast ? '0\r\n\r\n' : ''}` : piece.toString();
    const whole = `${head}${body}`;
    expect(both(head, 3, piece, isChunked, isLast)).toEqual([whole, whole]);
  });

  it('puts an end where there is no piece', () => {
    const writer = new ResponseWriter();
    const put = (head: string, isChunked: boolean) =>
      writer.bytes.toString('latin1', 0, writer.put(head, 3, null, isChunked, true));
    expect([put(HEAD, true), put(HEAD, false), put('', true), put('', false)]).toEqual([
      `${HEAD}0\r\n\r\n`,
      HEAD,
      '0\r\n\r\n',
      '',
    ]);
  });

  it('writes no empty chunk, which would end the body', () => {
    const nothing = Buffer.alloc(0);
    expect([both(HEAD, 3, nothing, true, false), both(HEAD, 3, nothing, true, true)]).toEqual([
      [HEAD, HEAD],
      [`${HEAD}0\r\n\r\n`, `${HEAD}0\r\n\r\n`],
    ]);
  });

  it('reports back-pressure, and writes elsewhere when redirected', () => {
    const writer = new ResponseWriter();
    expect(writer.put(HEAD, 3, Buffer.alloc(65_536), false, true)).toBe(NO_ROOM);
    expect(writer.put(HEAD, 3, Buffer.alloc(65_000), true, true)).toBeGreaterThan(65_000);
    const { bytes } = writer;
    writer.renew();
    expect(writer.bytes).not.toBe(bytes);
  });

  it.each(['a: b\r\nx: y', 'a: \n', 'a: \r', 'a: \0', 'a: \u{10a}'])(
    'refuses header values that would end the header: %j',
    (line) => {
      expect(both(`HTTP/1.1 200 OK\r\n${line}\r\n\r\n`, 3, Buffer.from('x'), false, true)).toEqual([
        'illegal',
        'illegal',
      ]);
    },
  );
});
