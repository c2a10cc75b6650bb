import type { RandomStream } from '../../kernel/random-stream.js';

/** Draws of a fuzzer, all from one seeded stream. */
export class Draw {
  constructor(readonly random: RandomStream) {}

  below(bound: number): number {
    return this.random.below(bound);
  }

  chance(share: number): boolean {
    return this.random.next() < share;
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.random.below(items.length)]!;
  }

  text(letters: string, most: number): string {
    return Array.from({ length: 1 + this.below(most) }, () => letters[this.below(letters.length)]).join('');
  }
}

/** Bytes that mean something in HTTP, and some that must not appear. */
const BYTES = [
  '\r',
  '\n',
  '\r\n',
  '\0',
  '\t',
  ' ',
  ':',
  ';',
  ',',
  '=',
  '"',
  '\x0b',
  '\x0c',
  '\x7f',
  '\x80',
  '\xff',
  '0',
  'a',
];

/** Lines that say something about framing, legally or not. */
const LINES = [
  'Content-Length: 0',
  'Content-Length: 5',
  'content-length: 5, 5',
  'Content-Length: +5',
  'Content-Length: 0x5',
  'Content-Length : 5',
  'Content-Length:',
  'Content_Length: 5',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: Chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: identity',
  'Transfer-Encoding:\x0bchunked',
  'Transfer-Encoding : chunked',
  'Transfer_Encoding: chunked',
  'Connection: close',
  'Connection: keep-alive',
  'Connection: Keep-Alive, Close',
  'Connection: upgrade',
  'Upgrade: h2c',
  'Host: b',
  'Expect: 100-continue',
  'Expect: a-miracle',
  'Trailer: x',
  'TE: trailers',
  ' folded',
  '\tfolded',
  'no colon',
  ': no name',
  'empty:',
  'x: \xe4\xff',
];
const NUMBERS = [
  '0',
  '1',
  '5',
  '00',
  '007',
  '10',
  'a',
  'F',
  '5;x',
  '5 ;x=y',
  ' 5',
  '5 ',
  '+5',
  '-1',
  '0x5',
  '1e1',
  '9'.repeat(17),
  'f'.repeat(17),
];

type Mutation = (text: string, draw: Draw) => string;

const MUTATIONS: readonly Mutation[] = [
  (text, draw) => spliced(text, draw.below(text.length + 1), 0, draw.of(BYTES)),
  (text, draw) => spliced(text, draw.below(text.length), 1, draw.of(BYTES)),
  (text, draw) => spliced(text, draw.below(text.length), 1 + draw.below(3), ''),
  (text, draw) => text.slice(0, draw.below(text.length)),
  (text, draw) => text + draw.of(['x', '\r\n', '\r\n\r\n', 'GET', '0\r\n\r\n', '\0']),
  // A line more, a line twice, a line less.
  (text, draw) => atLine(text, draw, (line) => `${line}\r\n${draw.of(LINES)}`),
  (text, draw) => atLine(text, draw, (line) => `${draw.of(LINES)}\r\n${line}`),
  (text, draw) => atLine(text, draw, (line) => `${line}\r\n${line}`),
  (text, draw) => atLine(text, draw, () => draw.of(LINES)),
  (text, draw) => atMatch(text, draw, /[^\r\n]*\r\n/g, () => ''),
  // Another line end, another number, another case.
  (text, draw) => atMatch(text, draw, /\r\n/g, () => draw.of(['\n', '\r', '\r\r\n', '\n\r', '\r\n\r\n', '\r\n ', ''])),
  (text, draw) => atMatch(text, draw, /(?<=\r\n|: )[0-9a-fA-F]+(?=[\r; ])/g, () => draw.of(NUMBERS)),
  (text, draw) =>
    atMatch(text, draw, /HTTP\/1\.1/g, () => draw.of(['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 '])),
  (text, draw) =>
    atMatch(text, draw, /[^\r\n:]+(?=:)/g, (name) =>
      draw.of([name.toUpperCase(), name.toLowerCase(), ` ${name}`, `${name} `]),
    ),
  (text, draw) =>
    atMatch(text, draw, /: [^\r\n]*/g, (value) => draw.of([value.slice(1), `:\t${value}\t`, `${value}  `, ':'])),
];

/** The text with some changes. */
export function mutated(text: string, draw: Draw): string {
  let changed = text;
  for (let left = 1 + draw.below(3); left > 0 && changed !== ''; left--) changed = draw.of(MUTATIONS)(changed, draw);
  return changed;
}

/** The bytes of a text in pieces, cut anywhere. */
export function cut(text: string, draw: Draw): Buffer[] {
  const bytes = Buffer.from(text, 'latin1');
  if (draw.chance(0.05) && bytes.length < 300) return Array.from(bytes, (byte) => Buffer.from([byte]));
  const places = Array.from({ length: draw.below(5) }, () => draw.below(bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...places]
    .map((from, i) => bytes.subarray(from, places[i] ?? bytes.length))
    .filter((piece) => piece.length > 0);
}

function spliced(text: string, at: number, less: number, more: string): string {
  return text.slice(0, at) + more + text.slice(at + less);
}

function atLine(text: string, draw: Draw, change: (line: string) => string): string {
  return atMatch(text, draw, /[^\r\n]+(?=\r\n)/g, change);
}

function atMatch(text: string, draw: Draw, pattern: RegExp, change: (match: string) => string): string {
  const matches = [...text.matchAll(pattern)];
  if (matches.length === 0) return text;
  const { 0: match, index } = draw.of(matches);
  return spliced(text, index, match.length, change(match));
}

const NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~";
const VALUE = 'abc ,;="()<>@/?\t0123456789\xe4\xff';

/** Header lines that say nothing about framing. */
export function plainFields(draw: Draw): string {
  let fields = '';
  for (let left = draw.below(4); left > 0; left--) {
    fields += `x-${draw.text(NAME, 12)}:${draw.of(['', ' ', '\t', '  '])}${draw.text(VALUE, 20)}\r\n`;
  }
  return fields;
}

/** A chunk with an extension other than those of `framedBody`. */
export const ODD_EXTENSION = /\n[0-9a-f]+(?:[ \t]|;(?!x="y"\r\n))/i;

/** A body in one of its framings: the header line for it and its bytes. */
export function framedBody(draw: Draw): { field: string; bytes: string } {
  const body = draw.chance(0.3) ? '' : draw.text('abc\r\n0 :{}"\0\xff', 80);
  if (draw.chance(0.5)) return { field: `Content-Length: ${body.length}\r\n`, bytes: body };
  let bytes = '';
  for (let at = 0; at < body.length; ) {
    const chunk = body.slice(at, at + 1 + draw.below(40));
    const size = draw.of([chunk.length.toString(16), `0${chunk.length.toString(16).toUpperCase()}`]);
    bytes += `${size}${draw.chance(0.1) ? ';x="y"' : ''}\r\n${chunk}\r\n`;
    at += chunk.length;
  }
  const trailers = draw.chance(0.2) ? 'x-sum: 1\r\n' : '';
  return { field: 'Transfer-Encoding: chunked\r\n', bytes: `${bytes}0\r\n${trailers}\r\n` };
}
