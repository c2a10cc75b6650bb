import { BACKSLASH, QUOTE } from '../kernel/text/ascii.js';

/** The most bytes of a chunk around the text; no pattern is learnt from a longer one. */
const MOST_BYTES = 2048;

/**
 * The chunks of one response usually differ only in their text. After one has been parsed, the next needs no parsing if
 * the bytes before and after the text are the same: comparing them is several times faster.
 */
export class ChunkPattern {
  readonly #bytes = new Uint8Array(MOST_BYTES);
  /** Bytes before the text, its quote included, and bytes from its last quote on. */
  #head = 0;
  #tail = 0;

  /** Forgets what it has learnt. */
  reset(): void {
    this.#head = 0;
  }

  /** Takes a chunk bytes[from..to) whose text is bytes[textFrom..textTo), without its quotes. */
  learn(bytes: Uint8Array, from: number, to: number, textFrom: number, textTo: number): void {
    const head = textFrom - from;
    const tail = to - textTo;
    if (head + tail > MOST_BYTES) return;
    this.#bytes.set(bytes.subarray(from, textFrom), 0);
    this.#bytes.set(bytes.subarray(textTo, to), head);
    this.#head = head;
    this.#tail = tail;
  }

  /** Whether a chunk equals the learnt one except for a text that is not empty. May return false for an equal one. */
  fits(bytes: Uint8Array, from: number, to: number): boolean {
    const head = this.#head;
    const tail = this.#tail;
    const textTo = to - tail;
    if (head === 0 || textTo <= from + head) return false;
    const pattern = this.#bytes;
    // From the back: where heads differ, they differ in an id or in the number of the choice, which come late.
    for (let i = 0; i < tail; i++) if (bytes[textTo + i] !== pattern[head + i]) return false;
    for (let i = head - 1; i >= 0; i--) if (bytes[from + i] !== pattern[i]) return false;
    return bytes[textTo - 1] !== BACKSLASH && bytes.indexOf(QUOTE, from + head) === textTo;
  }
}
