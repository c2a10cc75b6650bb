import { CR, LF } from '../../kernel/text/ascii.js';
import type { SseScanner } from '../../protocol/sse/sse-scanner.js';

/** Longer than any event that is cut out: a longer one need not be held back. */
const MOST_HELD = 64 * 1024;
const KEPT_BYTES = 4 * 1024;
const NO_BYTES = Buffer.alloc(0);

/**
 * Removes events from a stream and leaves every other byte unchanged, however the pieces are cut. Complete events are
 * passed on at once; the beginning of an incomplete event is held back until its end arrives.
 */
export class EventStripper {
  /** The beginning of an unfinished event. */
  #held: Buffer = NO_BYTES;
  #heldLength = 0;
  /** Ranges of the stream to be removed from the next output: from, to, from, to. */
  readonly #cuts: number[] = [];
  /** Where the LF of a CRLF may come whose CR was cut out; -1 when none is waited for. */
  #lfAt = -1;
  #piece: Buffer = NO_BYTES;
  #before = 0;

  reset(): void {
    if (this.#held.length > KEPT_BYTES) this.#held = NO_BYTES;
    this.#heldLength = 0;
    this.#lfAt = -1;
    this.#piece = NO_BYTES;
  }

  /** Bytes that are held back. */
  get heldLength(): number {
    return this.#heldLength;
  }

  /** Before the scanner sees a piece. */
  begin(piece: Buffer, scanner: SseScanner): void {
    this.#piece = piece;
    this.#before = scanner.length;
    this.#cuts.length = 0;
    if (this.#lfAt === this.#before && piece[0] === LF) this.#cuts.push(this.#before, this.#before + 1);
    this.#lfAt = -1;
  }

  /**
   * Removes the event [start..end) of the stream, which has just ended; if its beginning was already sent, it stays.
   */
  cut(start: number, end: number): void {
    if (start < this.#before - this.#heldLength) return;
    const next = end - this.#before;
    const endsInCr = this.#piece[next - 1] === CR;
    const hasLf = endsInCr && this.#piece[next] === LF;
    this.#cuts.push(start, hasLf ? end + 1 : end);
    if (endsInCr && next === this.#piece.length) this.#lfAt = end;
  }

  /** The bytes for the client after the scanner has seen the piece: usually the piece itself. */
  end(scanner: SseScanner): Buffer {
    const piece = this.#piece;
    this.#piece = NO_BYTES;
    const from = this.#before - this.#heldLength;
    const { boundary, length } = scanner;
    // Inside an event whose beginning was sent, or that is too long, everything is passed on.
    const to = boundary < from || length - boundary > MOST_HELD ? length : boundary;
    if (to === length && this.#heldLength === 0 && this.#cuts.length === 0) return piece;
    const going = this.#assembled(piece, from, to);
    this.#hold(piece, from, to, length);
    return going;
  }

  /** The bytes held back when the stream has ended: not an event, but still for the client. */
  rest(): Buffer {
    const rest = Buffer.from(this.#held.subarray(0, this.#heldLength));
    this.#heldLength = 0;
    return rest;
  }

  #assembled(piece: Buffer, from: number, to: number): Buffer {
    const cuts = this.#cuts;
    let size = to - from;
    for (let i = 0; i < cuts.length; i += 2) size -= cuts[i + 1]! - cuts[i]!;
    if (size === 0) return NO_BYTES;
    const made = Buffer.allocUnsafe(size);
    let at = from;
    let filled = 0;
    for (let i = 0; i <= cuts.length; i += 2) {
      const until = i < cuts.length ? cuts[i]! : to;
      filled += this.#copy(piece, at, until, made, filled);
      at = i < cuts.length ? cuts[i + 1]! : to;
    }
    return made;
  }

  /** Copies [from..to) of the stream, which is partly held and partly in the piece. */
  #copy(piece: Buffer, from: number, to: number, into: Buffer, at: number): number {
    const held = this.#before - this.#heldLength;
    let copied = 0;
    if (from < this.#before) {
      copied = this.#held.copy(into, at, from - held, Math.min(to, this.#before) - held);
    }
    if (to > this.#before) {
      copied += piece.copy(into, at + copied, Math.max(from, this.#before) - this.#before, to - this.#before);
    }
    return copied;
  }

  #hold(piece: Buffer, from: number, to: number, length: number): void {
    const held = length - to;
    const keeps = to === from ? this.#heldLength : 0;
    if (held > this.#held.length) {
      const grown = Buffer.allocUnsafe(Math.max(512, held * 2));
      this.#held.copy(grown, 0, 0, keeps);
      this.#held = grown;
    }
    piece.copy(this.#held, keeps, piece.length - (held - keeps));
    this.#heldLength = held;
  }
}
