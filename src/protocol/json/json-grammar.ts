import { BACKSLASH, CR, LF, QUOTE, SPACE, TAB } from '../../kernel/text/ascii.js';

/** What a scanner of JSON expects next. White space is allowed in the states up to OVER. */
export const VALUE = 0;
export const VALUE_OR_END = 1;
export const NAME_NEXT = 2;
export const NAME_OR_END = 3;
export const COLON_NEXT = 4;
export const COMMA_OR_END = 5;
/** The document is complete. */
export const OVER = 6;
export const TEXT = 7;
export const ESCAPE = 8;
export const HEX = 9;
const MINUS = 10;
const POINT = 11;
const EXPONENT = 12;
const SIGN = 13;
/** A number may end in these four. */
const ZERO = 14;
export const WHOLE = 15;
const FRACTION = 16;
const POWER = 17;
/** Plus the place in WORDS of the letter that must come. */
const WORD = 18;

/** The words without their first letters. */
const WORDS = 'rue alse ull ';
const [TRUE, FALSE, NULL] = [WORD, WORD + WORDS.indexOf('alse'), WORD + WORDS.indexOf('ull')];

const EXPECTED: Readonly<Record<number, string>> = {
  [VALUE]: 'a value',
  [VALUE_OR_END]: "a value or ']'",
  [NAME_NEXT]: 'a name in double quotes',
  [NAME_OR_END]: "a name in double quotes or '}'",
  [COLON_NEXT]: "':'",
  [COMMA_OR_END]: "',' or the end of the list or object",
  [OVER]: 'nothing after the value',
  [TEXT]: 'no control character in a string',
  [ESCAPE]: 'a valid escape sequence',
  [HEX]: 'four hexadecimal digits',
};

export function expectedIn(state: number): string {
  return EXPECTED[state] ?? (state < WORD ? 'a digit' : 'true, false or null');
}

export function isHex(byte: number): boolean {
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

export function mayEndNumber(state: number): boolean {
  return state >= ZERO && state <= POWER;
}

/** The state after the first byte of a number or word; -1 for any other byte. */
export function firstOfScalar(byte: number): number {
  if (isDigit(byte)) return byte === 0x30 ? ZERO : WHOLE;
  if (byte === 0x2d) return MINUS;
  if (byte === 0x74) return TRUE;
  if (byte === 0x66) return FALSE;
  return byte === 0x6e ? NULL : -1;
}

/** The state of a number or word after its next byte, OVER after a whole word; -1 when the byte is not part of it. */
export function nextOfScalar(state: number, byte: number): number {
  const digit = isDigit(byte);
  switch (state) {
    case WHOLE:
    case ZERO:
      if (digit) return state === WHOLE ? WHOLE : -1;
      if (byte === 0x2e) return POINT;
      return (byte | 0x20) === 0x65 ? EXPONENT : -1;
    case MINUS:
      return digit ? (byte === 0x30 ? ZERO : WHOLE) : -1;
    case POINT:
    case FRACTION:
      if (digit) return FRACTION;
      return state === FRACTION && (byte | 0x20) === 0x65 ? EXPONENT : -1;
    case EXPONENT:
      if (byte === 0x2b || byte === 0x2d) return SIGN;
      return digit ? POWER : -1;
    case SIGN:
    case POWER:
      return digit ? POWER : -1;
    default: {
      const place = state - WORD;
      if (byte !== WORDS.charCodeAt(place)) return -1;
      return WORDS.charCodeAt(place + 1) === SPACE ? OVER : state + 1;
    }
  }
}

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Bytes that end a run of plain bytes in a string. */
export const ENDS_RUN = new Uint8Array(256).fill(1, 0, SPACE);
ENDS_RUN[QUOTE] = 1;
ENDS_RUN[BACKSLASH] = 1;

/** Bytes that may follow a backslash; `u` is 2. */
export const ESCAPES = new Uint8Array(256);
for (const letter of '"\\/bfnrt') ESCAPES[letter.charCodeAt(0)] = 1;
ESCAPES[0x75] = 2;

export function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}
