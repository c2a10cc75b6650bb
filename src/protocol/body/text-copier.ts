import { BACKSLASH } from '../../kernel/text/ascii.js';
import { hasBackslash, viewOf } from '../json/byte-words.js';
import type { PromptBytes } from '../prompt-bytes.js';
import type { ScannedBody } from './scanned-body.js';

const LETTER_U = 0x75;
const REPLACEMENT = 0xfffd;
/** The most bytes that an escape takes: two halves of a pair. */
const PAIR_BYTES = 12;

/** What the letter after a backslash stands for. */
const MEANINGS = new Uint8Array(256);
for (const [letter, meaning] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'] as const) {
  MEANINGS[letter!.charCodeAt(0)] = meaning!.charCodeAt(0);
}

/** Copies texts of a scanned body, with their escapes resolved, as decoding them would give. */
export class TextCopier {
  readonly #body: ScannedBody;
  readonly #bytes: Buffer;
  /** There is no backslash between these places. */
  #plainFrom = 0;
  #backslash = -1;
  #words: DataView | null = null;

  constructor(body: ScannedBody) {
    this.#body = body;
    this.#bytes = body.bytes;
  }

  /**
   * Copies a part of a string, [from, to). Returns where it stopped: a character is not divided.
   * @param end of the string
   */
  copy(from: number, to: number, end: number, out: PromptBytes): number {
    const bytes = this.#bytes;
    if (!this.#body.isUtf8) return copyRepaired(bytes, viewOf(bytes), from, to, end, out);
    if (from < this.#plainFrom || this.#backslash < from) {
      const next = bytes.indexOf(BACKSLASH, from);
      this.#plainFrom = from;
      this.#backslash = next < 0 ? bytes.length : next;
    }
    if (this.#backslash < to) {
      this.#words ??= viewOf(bytes);
      return copyEscaped(bytes, this.#words, from, to, end, out);
    }
    out.addBytes(bytes, from, to);
    return to;
  }
}

/** Copies text of a valid JSON string at [from, to), UTF-8, with its escapes resolved. */
function copyEscaped(
  bytes: Buffer,
  words: DataView,
  from: number,
  to: number,
  textEnd: number,
  out: PromptBytes,
): number {
  out.reserve(to - from + PAIR_BYTES);
  const target = out.bytes;
  const targetWords = out.words;
  let { length } = out;
  let at = from;
  while (at < to) {
    while (at + 4 <= to) {
      const word = words.getInt32(at, true);
      if (hasBackslash(word)) break;
      targetWords.setInt32(length, word, true);
      at += 4;
      length += 4;
    }
    if (at === to) break;
    const byte = bytes[at]!;
    if (byte !== BACKSLASH) {
      target[length++] = byte;
      at++;
    } else if (bytes[at + 1] !== LETTER_U) {
      target[length++] = MEANINGS[bytes[at + 1]!]!;
      at += 2;
    } else {
      let code = unitAt(bytes, at);
      at += 6;
      if (code >= 0xd800 && code < 0xe000) {
        const low = code < 0xdc00 && at + 6 <= textEnd ? unitAt(bytes, at) : -1;
        if (low >= 0xdc00 && low < 0xe000) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          at += 6;
        } else code = REPLACEMENT;
      }
      length = writeCode(target, length, code);
    }
  }
  out.length = length;
  return at;
}

/** As `copyEscaped`, for bytes that may be invalid UTF-8: what is invalid becomes U+FFFD, as in a decoded string. */
function copyRepaired(
  bytes: Buffer,
  words: DataView,
  from: number,
  to: number,
  textEnd: number,
  out: PromptBytes,
): number {
  let at = from;
  while (at < to) {
    if (bytes[at] === BACKSLASH) at = copyEscaped(bytes, words, at, at + 1, textEnd, out);
    else {
      let end = at;
      while (end < to && bytes[end] !== BACKSLASH) end++;
      // A character that goes on after `to` belongs to this run.
      if (end === to) for (let more = 0; more < 3 && end < textEnd && isContinuation(bytes[end]!); more++) end++;
      out.add(bytes.toString('utf8', at, end));
      at = end;
    }
  }
  return at;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** The UTF-16 unit of the escape \uXXXX at a place; -1 when there is another byte. */
function unitAt(bytes: Buffer, at: number): number {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== LETTER_U) return -1;
  let unit = 0;
  for (let i = at + 2; i < at + 6; i++) unit = (unit << 4) | hexOf(bytes[i]!);
  return unit;
}

function hexOf(byte: number): number {
  return byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57;
}

function writeCode(target: Buffer, from: number, code: number): number {
  let at = from;
  if (code < 0x80) target[at++] = code;
  else if (code < 0x800) {
    target[at++] = 0xc0 | (code >> 6);
    target[at++] = 0x80 | (code & 0x3f);
  } else if (code < 0x10000) {
    target[at++] = 0xe0 | (code >> 12);
    target[at++] = 0x80 | ((code >> 6) & 0x3f);
    target[at++] = 0x80 | (code & 0x3f);
  } else {
    target[at++] = 0xf0 | (code >> 18);
    target[at++] = 0x80 | ((code >> 12) & 0x3f);
    target[at++] = 0x80 | ((code >> 6) & 0x3f);
    target[at++] = 0x80 | (code & 0x3f);
  }
  return at;
}
