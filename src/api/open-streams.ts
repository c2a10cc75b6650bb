import { tooManyStreams } from './errors.js';

/** A console has one stream per tab, and a program a few. */
const MOST_OF_ONE = 100;
const MOST = 1000;

/** The streams that are open: each reads the gateway and the store again and again, so that their number is bounded. */
export class OpenStreams {
  readonly #counts = new Map<string, number>();
  #all = 0;

  get size(): number {
    return this.#all;
  }

  /** Counts a stream; returns what ends it, which may be called more than once. Throws when there are too many. */
  enter(caller: string): () => void {
    const count = this.#counts.get(caller) ?? 0;
    if (count >= MOST_OF_ONE) throw tooManyStreams(caller, count);
    if (this.#all >= MOST) throw tooManyStreams('gateway', this.#all);
    this.#counts.set(caller, count + 1);
    this.#all++;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#all--;
      const left = this.#counts.get(caller)! - 1;
      if (left === 0) this.#counts.delete(caller);
      else this.#counts.set(caller, left);
    };
  }
}

/** The stream, with a call when it has ended or the signal is aborted, whichever is first: a stream may never be read. */
export function untilEnd(stream: AsyncIterable<string>, signal: AbortSignal, end: () => void): AsyncIterable<string> {
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return (async function* () {
    try {
      yield* stream;
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  })();
}
