import { viewOf } from './json/byte-words.js';

/** Bytes of text counted as one token where no tokenizer is configured. */
export const TOKEN_BYTES = 4;

/** The estimated tokens of a number of UTF-8 bytes. */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / TOKEN_BYTES);
}

/** The estimated tokens of a text. */
export function estimateTokens(text: string): number {
  return tokensOfBytes(Buffer.byteLength(text));
}

/** A buffer of its own, and the same bytes as words. */
function room(bytes: number): { bytes: Buffer; words: DataView } {
  const made = Buffer.allocUnsafeSlow(bytes);
  return { bytes: made, words: viewOf(made) };
}

const USUAL_BYTES = 64 * 1024;
const KEPT_BYTES = 1024 * 1024;

/** A prompt as the UTF-8 bytes a model would see. One buffer serves one prompt after the other. */
export class PromptBytes {
  bytes: Buffer;
  /** The same bytes, to be read and written by words. */
  words: DataView;
  length = 0;

  constructor() {
    const { bytes, words } = room(USUAL_BYTES);
    this.bytes = bytes;
    this.words = words;
  }

  /** Resets for the next prompt; frees the memory of an unusually long one. */
  clear(): void {
    this.length = 0;
    if (this.bytes.length > KEPT_BYTES) Object.assign(this, room(USUAL_BYTES));
  }

  add(text: string): void {
    this.reserve(text.length * 3);
    this.length += this.bytes.write(text, this.length);
  }

  /** Token ids instead of text: four bytes each, so that they are found again like text. */
  addTokens(ids: readonly number[]): void {
    this.reserve(ids.length * TOKEN_BYTES);
    for (const id of ids) this.length = this.bytes.writeUInt32LE(id >>> 0, this.length);
  }

  addToken(id: number): void {
    this.reserve(TOKEN_BYTES);
    this.length = this.bytes.writeUInt32LE(id, this.length);
  }

  /** Bytes that are UTF-8 already. */
  addBytes(bytes: Buffer, from: number, to: number): void {
    this.reserve(to - from);
    this.length += bytes.copy(this.bytes, this.length, from, to);
  }

  /** Drops the first bytes, which have been read. */
  drop(bytes: number): void {
    this.bytes.copyWithin(0, bytes, this.length);
    this.length -= bytes;
  }

  /** Line ends, at least one, up to the next whole token. */
  fillToken(): void {
    do this.add('\n');
    while (this.length % TOKEN_BYTES !== 0);
  }

  /** The prompt alone: a view, good until the next change. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  /** Makes room for more bytes; `bytes` and `words` may be others afterwards. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const next = room(Math.max(this.length + more, this.bytes.length * 2));
    next.bytes.set(this.view(), 0);
    Object.assign(this, next);
  }
}
