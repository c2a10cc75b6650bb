import type { RandomStream } from '../../kernel/random-stream.js';

type State = [number, number, number, number];

/**
 * Many random streams in one array, 16 bytes each: numbers come from the stream selected last. A stream returns the
 * same numbers as `randomStream` from the same state.
 */
export class StreamBank implements RandomStream {
  #words: Int32Array;
  #at = 0;

  constructor(streams: number) {
    this.#words = new Int32Array(Math.max(1, streams) * 4);
  }

  /** Streams that were never given a state have none: all words are 0. */
  isSeeded(stream: number): boolean {
    const words = this.#words;
    const at = stream * 4;
    return (words[at]! | words[at + 1]! | words[at + 2]! | words[at + 3]!) !== 0;
  }

  select(stream: number): void {
    this.#at = stream * 4;
  }

  /** Grows the array to hold a stream with this number. */
  reserve(stream: number): void {
    if (stream * 4 < this.#words.length) return;
    const words = new Int32Array(Math.max(this.#words.length * 2, (stream + 1) * 4));
    words.set(this.#words);
    this.#words = words;
  }

  /** Sets the state of the selected stream from the next numbers of another one. */
  seedFrom(parent: RandomStream): void {
    for (let i = 0; i < 4; i++) this.#words[this.#at + i] = parent.below(2 ** 32);
    this.#words[this.#at + 3]! |= 1;
  }

  next(): number {
    const words = this.#words;
    const at = this.#at;
    let a = words[at]!;
    let b = words[at + 1]!;
    let c = words[at + 2]!;
    let d = words[at + 3]!;
    // Two steps of xoshiro128**, the second one on the result of the first.
    const p = Math.imul(b, 5);
    const first = Math.imul((p << 7) | (p >>> 25), 9) >>> 0;
    let t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = (d << 11) | (d >>> 21);
    const q = Math.imul(b, 5);
    const second = Math.imul((q << 7) | (q >>> 25), 9) >>> 0;
    t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    words[at] = a;
    words[at + 1] = b;
    words[at + 2] = c;
    words[at + 3] = (d << 11) | (d >>> 21);
    return (first * 2 ** 21 + (second >>> 11)) / 2 ** 53;
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  state(): State {
    const at = this.#at;
    return [this.#words[at]!, this.#words[at + 1]!, this.#words[at + 2]!, this.#words[at + 3]!];
  }

  restore(state: Readonly<State>): void {
    for (let i = 0; i < 4; i++) this.#words[this.#at + i] = state[i]!;
  }
}
