import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SseScanner } from './sse-scanner.js';

interface Heard {
  data: string;
  end: number;
  start: number;
}

/**
 * What a scanner reports of a text that comes in pieces, each in a buffer that is overwritten as soon as it was pushed.
 */
function scan(pieces: readonly Uint8Array[], maxEventBytes?: number) {
  const events: Heard[] = [];
  const sink = {
    event(bytes: Uint8Array, from: number, to: number, end: number, start: number) {
      events.push({ data: Buffer.from(bytes.subarray(from, to)).toString(), end, start });
    },
  };
  const scanner = new SseScanner(sink, maxEventBytes);
  for (const piece of pieces) {
    const chunk = Buffer.from(piece);
    scanner.push(chunk);
    chunk.fill(0x58);
  }
  const { boundary, length, oversized, unfinished } = scanner;
  return { events, boundary, length, oversized, unfinished };
}

const whole = (text: string, maxEventBytes?: number) => scan([Buffer.from(text)], maxEventBytes);
const dataOf = (text: string) => whole(text).events.map(({ data }) => data);

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [...new Set(at)].sort((a, b) => a - b);
  return [...places, bytes.length].map((to, i) => bytes.subarray(i === 0 ? 0 : places[i - 1], to));
}

const STREAM =
  '\ufeff: hello\n\ndata: {"a":1}\n\ndata:no space\r\n\r\nevent: x\nid: 7\ndata: first\ndata\ndata:  third \n\n' +
  'data: \u00fc\u{1f600}\rdata: cr\r\rdatas: not data\ndate\n\nretry: 5\n\ndata: [DONE]\n\n';

describe('events', () => {
  test('one after the other', () => {
    expect(dataOf(STREAM)).toEqual(['{"a":1}', 'no space', 'first\n\n third ', '\u00fc\u{1f600}\ncr', '[DONE]']);
  });

  test.each([
    ['data: a\n\n', ['a']],
    ['data\n\n', ['']],
    ['data:\n\n', ['']],
    ['data: \n\n', ['']],
    ['data:a\n\n\n\ndata: b\n\n', ['a', 'b']],
    ['data: a\r\n\r\n', ['a']],
    ['data: a\r\r', ['a']],
    ['data: a\n\r\n', ['a']],
    ['data : a\n\n', []],
    [' data: a\n\n', []],
    ['dat\n\n', []],
    ['data: a\n', []],
    ['data: a', []],
    ['\n\n: ping\n\n', []],
  ])('%j', (text, expected) => {
    expect(dataOf(text)).toEqual(expected);
  });

  test('report their place, so that one can be cut out', () => {
    const text = ': ping\n\ndata: a\n\n: x\ndata: b\r\n\r\ndata: c\r\n\r\ndata';
    const { boundary, events, length } = whole(text);
    expect(events.map(({ end, start }) => text.slice(start, end))).toEqual([
      'data: a\n\n',
      ': x\ndata: b\r\n\r',
      'data: c\r\n\r',
    ]);
    expect([text.slice(boundary), length]).toEqual(['data', text.length]);
  });

  test('of one stream after the other', () => {
    const heard: unknown[] = [];
    const scanner = new SseScanner({ event: (_, from, to, end, start) => heard.push([to - from, start, end]) }, 50_000);
    const texts = ['data: a\n\n', 'data: b\r\n\r', `data: ${'c'.repeat(40_000)}\ndata: x`, 'da', 'data: d\n\n', '\n'];
    const expected = texts.map((text) => {
      const { boundary, events, length, unfinished } = whole(text, 50_000);
      return [events.map(({ data, end, start }) => [data.length, start, end]), boundary, length, unfinished];
    });
    for (const [i, text] of texts.entries()) {
      heard.splice(0);
      scanner.reset();
      for (const byte of Buffer.from(text)) scanner.push(Buffer.of(byte));
      const { boundary, length, unfinished } = scanner;
      expect([heard, boundary, length, unfinished], `stream ${i}`).toEqual(expected[i]);
    }
  });
});

describe('a stream that ends', () => {
  test.each([
    ['', false],
    ['data: a\n\n', false],
    ['data: a\r\n\r\n', false],
    ['data: a\r\r', false],
    [': ping\n\n', false],
    ['data: a\n', true],
    ['data: a', true],
    ['data: a\n\nd', true],
    ['data: a\r\n\r\n\r\nid: 1\r\n', true],
  ])('%j: unfinished %j', (text, unfinished) => {
    const bytes = Buffer.from(text);
    for (let at = 0; at <= bytes.length; at++)
      expect(scan(cut(bytes, [at])).unfinished, `cut at ${at}`).toBe(unfinished);
  });
});

describe('a stream split', () => {
  test('into two pieces, everywhere', () => {
    const bytes = Buffer.from(STREAM);
    const expected = scan([bytes]);
    for (let at = 0; at <= bytes.length; at++) expect(scan(cut(bytes, [at])), `cut at ${at}`).toEqual(expected);
  });

  test('into three pieces, everywhere', () => {
    const bytes = Buffer.from('data: a\r\n\r\ndata: b\ndata: c\n\n:x\r\rdata: d\r\r');
    const expected = scan([bytes]);
    expect(expected.events).toHaveLength(3);
    for (let one = 0; one <= bytes.length; one++) {
      for (let two = one; two <= bytes.length; two++) expect(scan(cut(bytes, [one, two]))).toEqual(expected);
    }
  });

  test('byte by byte', () => {
    const bytes = Buffer.from(STREAM);
    expect(scan([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(scan([bytes]));
  });

  const piece = fc.constantFrom(
    'data: ',
    'data:',
    'data',
    '\n',
    '\r',
    '\r\n',
    ': c',
    'id: 3',
    '\ufeff',
    '\u00fc',
    'xy',
    ' ',
    ':',
  );
  const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));
  test('anywhere, anything, under any limit', () => {
    fc.assert(
      fc.property(
        text,
        fc.array(fc.nat(200), { maxLength: 8 }),
        fc.integer({ min: 1, max: 40 }),
        (given, cuts, limit) => {
          const bytes = Buffer.from(given);
          const places = cuts.filter((at) => at <= bytes.length);
          expect(scan(cut(bytes, places), limit)).toEqual(scan([bytes], limit));
          expect(whole(given).events.map(({ data }) => data)).toEqual(plainly(given));
        },
      ),
      { numRuns: 2000 },
    );
  });
});

/** The same by splitting the whole text into lines. */
function plainly(text: string): string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
  lines.pop();
  const events: string[] = [];
  let data: string[] = [];
  for (const line of lines) {
    if (line === '') {
      if (data.length > 0) events.push(data.join('\n'));
      data = [];
    } else if (line === 'data' || line.startsWith('data:')) {
      data.push(line.slice(5).replace(/^ /, ''));
    }
  }
  return events;
}

describe('limits', () => {
  test('an event with too much data is skipped, the next is reported', () => {
    const text = `data: ${'x'.repeat(11)}\n\ndata: ${'y'.repeat(10)}\n\n`;
    expect(whole(text, 10)).toMatchObject({ events: [{ data: 'y'.repeat(10) }], oversized: 1 });
  });

  test('lines of one event count together', () => {
    const text = 'data: 12345\ndata: 1234\n\ndata: 12345\ndata: 12345\n\ndata: z\n\n';
    const { events, oversized } = whole(text, 10);
    expect(events.map(({ data }) => data)).toEqual(['12345\n1234', 'z']);
    expect(oversized).toBe(1);
  });

  test('a line without end does not take the memory', () => {
    const scanner = new SseScanner({ event: () => expect.unreachable() }, 1000);
    const chunk = Buffer.alloc(64 * 1024, 0x61);
    scanner.push(Buffer.from('data: '));
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 512; i++) scanner.push(chunk);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
    scanner.push(Buffer.from('\n\n'));
    expect(scanner.oversized).toBe(1);
  });

  test('a long comment is no event', () => {
    const text = `:${'x'.repeat(100)}\ndata: a\n\n`;
    for (const at of [0, 50, 104]) expect(scan(cut(Buffer.from(text), [at]), 10)).toMatchObject({ oversized: 0 });
  });
});
