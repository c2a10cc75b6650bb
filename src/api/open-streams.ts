import type { Caller } from './access/caller.js';
import { tooManyStreams } from './errors.js';

/** A console has one stream per tab, and a program a few. */
const MOST_OF_ONE = 100;
const MOST_OF_WORKSPACE = 300;
const MOST = 1000;
/** Of these, only callers with a role in every workspace get the last ones. */
const RESERVED = 100;

/** The streams that are open: each reads the gateway and the store again and again, so that their number is bounded. */
export class OpenStreams {
  readonly #counts = new Map<string, number>();
  #all = 0;

  get size(): number {
    return this.#all;
  }

  /** Counts a stream; returns what ends it, which may be called more than once. Throws when there are too many. */
  enter({ name, role, workspaces }: Pick<Caller, 'name' | 'role' | 'workspaces'>): () => void {
    const isGlobal = role !== 'none';
    const counted = [`caller ${name}`];
    if (!isGlobal) for (const workspace of workspaces.keys()) counted.push(`workspace ${workspace}`);
    for (const [i, one] of counted.entries()) {
      const open = this.#counts.get(one) ?? 0;
      if (open >= (i === 0 ? MOST_OF_ONE : MOST_OF_WORKSPACE)) throw tooManyStreams(one, open);
    }
    if (this.#all >= (isGlobal ? MOST : MOST - RESERVED)) throw tooManyStreams('gateway', this.#all);
    for (const one of counted) this.#counts.set(one, (this.#counts.get(one) ?? 0) + 1);
    this.#all++;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#all--;
      for (const one of counted) {
        const left = this.#counts.get(one)! - 1;
        if (left === 0) this.#counts.delete(one);
        else this.#counts.set(one, left);
      }
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
