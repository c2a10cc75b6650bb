/** Which bytes may stand where in a head, as tables: 1 for those that may. */

/** RFC 9110's tchar: what names of headers are made of. */
export const NAME_BYTES = new Uint8Array(256);
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
  NAME_BYTES[char.charCodeAt(0)] = 1;
}

/** Everything but controls; a tab is none. */
export const VALUE_BYTES = new Uint8Array(256).fill(1);
VALUE_BYTES.fill(0, 0, 32);
VALUE_BYTES[9] = 1;
VALUE_BYTES[127] = 0;

/** What a request may be for: anything that shows, and letters that are not ASCII. */
export const TARGET_BYTES = new Uint8Array(256).fill(1);
TARGET_BYTES.fill(0, 0, 33);
TARGET_BYTES[127] = 0;

export const TAB = 9;
export const LF = 10;
export const CR = 13;
export const SPACE = 32;
export const ASTERISK = 42;
export const SLASH = 47;
export const COLON = 58;
export const SEMICOLON = 59;
