/** What may stand where in the head of a message. The tables have 1 for the bytes that may. */

/** RFC 9110's tchar: the bytes of field names and methods. */
export const NAME_BYTES = new Uint8Array(256);
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
  NAME_BYTES[char.charCodeAt(0)] = 1;
}

/** Field values: every byte except control characters; a tab is allowed. */
export const VALUE_BYTES = new Uint8Array(256).fill(1);
VALUE_BYTES.fill(0, 0, 32);
VALUE_BYTES[9] = 1;
VALUE_BYTES[127] = 0;

/** Request targets: visible ASCII, and bytes above it. */
export const TARGET_BYTES = new Uint8Array(256).fill(1);
TARGET_BYTES.fill(0, 0, 33);
TARGET_BYTES[127] = 0;

/** The most of a message that is written at once, from a buffer. */
export const ROOM = 65_536;

/** Whether as much of bytes[from..to) as there is begins as `expected` does. */
export function beginsAs(expected: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  const length = Math.min(to - from, expected.length);
  for (let i = 0; i < length; i++) if (bytes[from + i] !== expected[i]) return false;
  return true;
}

/** Whether a field has this name, given in lower case. Allocates only when the first letter matches and the spelling differs. */
export function isNamed(name: string, lower: string): boolean {
  if (name === lower) return true;
  return (name.charCodeAt(0) | 0x20) === lower.charCodeAt(0) && name.toLowerCase() === lower;
}

export function isFieldName(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    if (NAME_BYTES[name.charCodeAt(i)] !== 1) return false;
  }
  return name.length > 0;
}

/**
 * Writes a head to the start of a buffer that has room for its characters. Returns its length, or -1 when it is not legal: no
 * field breaks out of its line, because the only control characters of a head are the ends of its lines.
 * @param lines of the head, the empty one included
 */
export function putHead(bytes: Buffer, head: string, lines: number): number {
  const length = bytes.write(head, 0, 'latin1');
  return isLegalHead(bytes, length, lines) ? length : -1;
}

/** Characters wider than a byte are caught as well, because only their lower bytes are sent. */
export function isLegalHead(bytes: Buffer, length: number, lines: number): boolean {
  let values = 0;
  for (let i = 0; i < length; i++) values += VALUE_BYTES[bytes[i]!]!;
  return length - values === 2 * lines;
}
