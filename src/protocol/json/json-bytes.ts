/** Helpers that read JSON in place, from its bytes. */

export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;

/** The most digits of a number that is read. */
const LONGEST_NUMBER = 48;

/** Whether a byte may be part of a number. */
export function isOfNumber(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2e || byte === 0x65 || byte === 0x45 || byte === 0x2b
  );
}

/** The number at this place; -1 when it has too many digits. */
export function numberOf(word: Uint8Array, length: number): number {
  if (length > LONGEST_NUMBER) return -1;
  let value = 0;
  for (let i = 0; i < length; i++) {
    const digit = word[i]! - 0x30;
    if (digit < 0 || digit > 9 || i > 14) return Number(Buffer.from(word.subarray(0, length)).toString('latin1'));
    value = value * 10 + digit;
  }
  return value;
}
