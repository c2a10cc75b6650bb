import { ENDS_RUN } from './json-grammar.js';

/** Reads bytes four at a time: a test of one word takes hardly longer than that of one byte. */

export function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Each byte of a word: these have the highest bit set in a byte that is zero, or in one after such a byte. */
const ONES = 0x01010101;
const HIGHEST = 0x80808080 | 0;
const SPACES = 0x20202020;
const QUOTES = 0x22222222;
const BACKSLASHES = 0x5c5c5c5c;

/** Where the first quote, backslash or control character is in [from, to); `to` without one. */
export function afterPlain(view: DataView, from: number, to: number): number {
  let at = from;
  for (const last = to - 8; at <= last; at += 8) {
    const a = view.getInt32(at, true);
    const b = view.getInt32(at + 4, true);
    const found =
      (((a - SPACES) | ((a ^ QUOTES) - ONES) | ((a ^ BACKSLASHES) - ONES)) & ~a) |
      (((b - SPACES) | ((b ^ QUOTES) - ONES) | ((b ^ BACKSLASHES) - ONES)) & ~b);
    if ((found & HIGHEST) !== 0) break;
  }
  while (at < to && ENDS_RUN[view.getUint8(at)] === 0) at++;
  return at;
}

export function hasBackslash(word: number): boolean {
  const differences = word ^ BACKSLASHES;
  return ((differences - ONES) & ~differences & HIGHEST) !== 0;
}
