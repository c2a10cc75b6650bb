const DAY_MS = 86_400_000;

/** Days of a clock, by UTC: asking for the same day again costs two comparisons. */
export class UtcDay {
  readonly #epochMs: number;
  #from = 0;
  #text = '';

  /** @param epochUs microseconds from 1970 to the clock's zero */
  constructor(epochUs: number) {
    this.#epochMs = epochUs / 1000;
  }

  /** The day of a time on the clock, written YYYY-MM-DD. */
  of(us: number): string {
    const ms = this.#epochMs + us / 1000;
    if (ms < this.#from || ms >= this.#from + DAY_MS || this.#text === '') {
      this.#from = Math.floor(ms / DAY_MS) * DAY_MS;
      this.#text = new Date(this.#from).toISOString().slice(0, 10);
    }
    return this.#text;
  }
}
