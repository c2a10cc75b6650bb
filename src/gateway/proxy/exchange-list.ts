import type { Exchange } from './exchange.js';

/**
 * The exchanges under way, in an array in which each knows its index: a Set with an insertion and a deletion per
 * request leaves old tables, and everything they reference, to the garbage collector.
 */
export class ExchangeList {
  readonly #exchanges: Exchange[] = [];
  /** Called when the last one ends. */
  #whenEmpty: (() => void) | null = null;

  get size(): number {
    return this.#exchanges.length;
  }

  add(exchange: Exchange): void {
    exchange.place = this.#exchanges.length;
    this.#exchanges.push(exchange);
  }

  remove(exchange: Exchange): void {
    const last = this.#exchanges.pop()!;
    if (last !== exchange) {
      this.#exchanges[exchange.place] = last;
      last.place = exchange.place;
    }
    exchange.place = -1;
    if (this.#whenEmpty !== null && this.#exchanges.length === 0) this.#whenEmpty();
  }

  /** A copy of those under way, so that they may end during an iteration. */
  all(): Exchange[] {
    return this.#exchanges.slice();
  }

  /** Resolves when none is under way. To be called once, when no more are accepted. */
  emptied(): Promise<void> {
    if (this.#exchanges.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
    });
  }
}
