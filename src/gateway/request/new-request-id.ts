import { randomFillSync } from 'node:crypto';

/** Random bytes for this many ids are fetched at once. */
const AHEAD = 256;
const BYTES = 16;
const DIGITS = Buffer.from('0123456789abcdef', 'latin1');
const HYPHENS = [8, 13, 18, 23];

const random = Buffer.allocUnsafeSlow(AHEAD * BYTES);
const text = Buffer.alloc(36, '-');
let next = random.length;

/**
 * A random UUID (version 4). The one of node:crypto is put together of twenty strings that stay with it for as long as it is
 * remembered, which for a request is long: the garbage collector's pauses were mostly spent on copying them. This is one string.
 */
export function newRequestId(): string {
  if (next === random.length) {
    randomFillSync(random);
    next = 0;
  }
  const from = next;
  next += BYTES;
  random[from + 6] = (random[from + 6]! & 0x0f) | 0x40;
  random[from + 8] = (random[from + 8]! & 0x3f) | 0x80;
  let at = 0;
  for (let i = 0; i < BYTES; i++) {
    const byte = random[from + i]!;
    if (at === HYPHENS[0] || at === HYPHENS[1] || at === HYPHENS[2] || at === HYPHENS[3]) at++;
    text[at++] = DIGITS[byte >> 4]!;
    text[at++] = DIGITS[byte & 15]!;
  }
  return text.toString('latin1', 0, 36);
}
