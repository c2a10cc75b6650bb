/** Which bytes may appear where in the head of a message, as tables: 1 for those that may. */

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

/** Whether as much of bytes[from..to) as there is begins as `expected` does. */
export function beginsAs(expected: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  const length = Math.min(to - from, expected.length);
  for (let i = 0; i < length; i++) if (bytes[from + i] !== expected[i]) return false;
  return true;
}
