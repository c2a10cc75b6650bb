import { BACKSLASH, COLON, COMMA, QUOTE } from '../../kernel/text/ascii.js';
import { CLOSE_ARRAY, CLOSE_OBJECT, OPEN_ARRAY, OPEN_OBJECT } from './json-bytes.js';

/** Finds and changes members of a JSON object in its bytes, so that every other byte stays as it was sent. */

export const ABSENT = -1;
export const MALFORMED = -2;

/** Where in the object that opens at a place the last value of a name begins; of equal names the last counts. */
export function lastValueOf(body: Buffer, object: number, name: Buffer): number {
  let found = ABSENT;
  let at = afterGap(body, object + 1);
  if (body[at] === CLOSE_OBJECT) return found;
  for (;;) {
    const end = body[at] === QUOTE ? afterText(body, at) : MALFORMED;
    if (end < 0) return MALFORMED;
    const colon = afterGap(body, end);
    if (body[colon] !== COLON) return MALFORMED;
    const value = afterGap(body, colon + 1);
    if (end - at === name.length && body.compare(name, 0, name.length, at, end) === 0) found = value;
    const next = afterGap(body, afterValue(body, value));
    if (body[next] === CLOSE_OBJECT) return found;
    if (body[next] !== COMMA) return MALFORMED;
    at = afterGap(body, next + 1);
  }
}

/** Where a value that begins at a place has ended; the body's length when it does not end. */
export function afterValue(body: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < body.length; at++) {
    const byte = body[at];
    if (byte === QUOTE) {
      const end = afterText(body, at);
      if (end < 0 || depth === 0) return end < 0 ? body.length : end;
      at = end - 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (byte === COMMA || isGap(byte!))) return at;
  }
  return body.length;
}

/** The body with `length` bytes at a place replaced by an ASCII text. */
export function replaced(body: Buffer, at: number, length: number, text: string): Buffer {
  const made = Buffer.allocUnsafe(body.length - length + text.length);
  body.copy(made, 0, 0, at);
  made.write(text, at, 'latin1');
  body.copy(made, at + text.length, at + length);
  return made;
}

export function afterGap(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && isGap(body[at]!)) at++;
  return at;
}

function afterText(body: Buffer, from: number): number {
  for (let at = body.indexOf(QUOTE, from + 1); at >= 0; at = body.indexOf(QUOTE, at + 1)) {
    let backslashes = 0;
    while (body[at - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  return MALFORMED;
}

function isGap(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
