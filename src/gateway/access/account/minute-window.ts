/**
 * The present second and the sixty before it. What happened somewhere in a second is counted until a whole minute has
 * passed since that second's end: so that no 60 seconds, wherever they begin, ever hold more than is counted.
 */
export const WINDOW_SECONDS = 61;

/** Counts of the last minute, by second. Whole numbers; time only moves forward. */
export class MinuteWindow {
  readonly #counts = new Float64Array(WINDOW_SECONDS);
  /** The index of the present second, and the second itself. */
  #at = 0;
  #second = 0;
  #total = 0;

  get total(): number {
    return this.#total;
  }

  get second(): number {
    return this.#second;
  }

  /** Advances to a second. If the clock was set back by more than a minute, all counts are treated as new. */
  advance(second: number): void {
    const passed = second - this.#second;
    if (passed > 0 && passed < WINDOW_SECONDS) {
      for (let i = 0; i < passed; i++) {
        this.#at = this.#at === WINDOW_SECONDS - 1 ? 0 : this.#at + 1;
        this.#total -= this.#counts[this.#at]!;
        this.#counts[this.#at] = 0;
      }
      this.#second = second;
    } else if (passed >= WINDOW_SECONDS) {
      this.#restart(second, 0);
    } else if (passed <= -WINDOW_SECONDS) {
      this.#restart(second, this.#total);
    }
  }

  #restart(second: number, total: number): void {
    this.#counts.fill(0);
    this.#counts[this.#at] = total;
    this.#total = total;
    this.#second = second;
  }

  /**
   * Adds to a second, or subtracts what was added; ignored for a second outside the window. Counts never become
   * negative.
   */
  add(second: number, amount: number): void {
    const age = Math.max(0, this.#second - second);
    if (age >= WINDOW_SECONDS) return;
    const at = this.#indexOf(age);
    const before = this.#counts[at]!;
    const after = Math.max(0, before + amount);
    this.#counts[at] = after;
    this.#total += after - before;
  }

  /** In how many seconds no more than `most` is counted, if nothing is added meanwhile. */
  secondsUntil(most: number): number {
    let left = this.#total;
    if (left <= most) return 0;
    for (let age = WINDOW_SECONDS - 1; age > 0; age--) {
      left -= this.#counts[this.#indexOf(age)]!;
      if (left <= most) return WINDOW_SECONDS - age;
    }
    return WINDOW_SECONDS;
  }

  /** What is counted of each second, oldest first: the last is the present one. */
  toArray(): number[] {
    return Array.from(this.#counts, (_, i) => this.#counts[this.#indexOf(WINDOW_SECONDS - 1 - i)]!);
  }

  clear(): void {
    this.#restart(0, 0);
  }

  /**
   * Merges another gateway's counts up to a second, in the form of `toArray`. Where both have a second, the larger
   * count holds, because one of the two includes the other.
   */
  absorb(second: number, counts: readonly number[]): void {
    this.advance(Math.max(second, this.#second));
    for (let i = 0; i < counts.length; i++) {
      const age = this.#second - (second - counts.length + 1 + i);
      if (age >= WINDOW_SECONDS) continue;
      const at = this.#indexOf(age);
      const more = counts[i]! - this.#counts[at]!;
      if (more <= 0) continue;
      this.#counts[at]! += more;
      this.#total += more;
    }
  }

  #indexOf(age: number): number {
    const at = this.#at - age;
    return at < 0 ? at + WINDOW_SECONDS : at;
  }
}
