import { BACKSLASH, QUOTE } from '../../kernel/text/ascii.js';

/** A text up to this length is scanned byte by byte; for a longer one, a search for its end is worth a call. */
export const SHORT_TEXT = 32;

/** Finds the end of a text in JSON whose beginning has been read, split at any byte. */
export class JsonText {
  /** Whether the last byte so far was a backslash that the next one belongs to. */
  #escapes = false;

  reset(): void {
    this.#escapes = false;
  }

  /** Where the text ends, at its last quote; `to` when that has not come. */
  end(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    if (this.#escapes) {
      this.#escapes = false;
      at++;
    }
    const short = Math.min(to, at + SHORT_TEXT);
    for (; at < short; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at++;
    }
    while (at < to) {
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote < 0 || quote > to ? to : quote;
      const isEscaped = countBackslashes(bytes, at, end) % 2 === 1;
      if (end === to) {
        this.#escapes = isEscaped;
        return to;
      }
      if (!isEscaped) return end;
      at = end + 1;
    }
    this.#escapes = at > to;
    return to;
  }
}

/** Where a short, complete text ends; -1 when it may be incomplete. */
export function endOfShort(bytes: Uint8Array, from: number, to: number): number {
  const most = Math.min(to, from + SHORT_TEXT);
  for (let at = from; at < most; at++) if (bytes[at] === QUOTE) return bytes[at - 1] === BACKSLASH ? -1 : at;
  return -1;
}

/** Backslashes right before a place. */
function countBackslashes(bytes: Uint8Array, from: number, end: number): number {
  let at = end;
  while (at > from && bytes[at - 1] === BACKSLASH) at--;
  return end - at;
}
