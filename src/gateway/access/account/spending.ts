const DAY_SECONDS = 86_400;

/** A day or a month by UTC, in seconds since 1970; `end` is the first second after it. */
export interface Period {
  start: number;
  end: number;
}

export function dayOf(second: number): Period {
  const start = second - (second % DAY_SECONDS);
  return { start, end: start + DAY_SECONDS };
}

export function monthOf(second: number): Period {
  const date = new Date(second * 1000);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { start: Date.UTC(year, month) / 1000, end: Date.UTC(year, month + 1) / 1000 };
}

/** What was spent in the present day or month: tokens, and money in nano-dollars. */
export class Spending {
  tokens = 0;
  nanos = 0;
  readonly #periodOf: (second: number) => Period;
  #start = 0;
  #end = 0;

  constructor(periodOf: (second: number) => Period) {
    this.#periodOf = periodOf;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  /** Resets with a new period. If the clock was set back, spending is kept. */
  advance(second: number): void {
    if (second >= this.#start && second < this.#end) return;
    if (second >= this.#end) {
      this.tokens = 0;
      this.nanos = 0;
    }
    const { start, end } = this.#periodOf(second);
    this.#start = start;
    this.#end = end;
  }

  /** Adds to the spending, or subtracts what was added at `second` if that was in this period. */
  add(second: number, tokens: number, nanos: number): void {
    const isOver = second < this.#start;
    if (tokens > 0 || !isOver) this.tokens = Math.max(0, this.tokens + tokens);
    if (nanos > 0 || !isOver) this.nanos = Math.max(0, this.nanos + nanos);
  }

  /** Raises the spending of the period that began at `start` to at least this. */
  raise(start: number, tokens: number, nanos: number): void {
    if (start !== this.#start) return;
    this.tokens = Math.max(this.tokens, tokens);
    this.nanos = Math.max(this.nanos, nanos);
  }

  clear(): void {
    this.tokens = 0;
    this.nanos = 0;
    this.#start = 0;
    this.#end = 0;
  }
}
