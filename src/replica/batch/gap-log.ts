import { CountedValues } from '../../kernel/counted-values.js';

/**
 * The gaps between tokens of finished requests, without writing down a gap per token. A step's duration is the gap of
 * every request that decoded in it, so a request's gaps are a range of steps: two marks in a difference array.
 * Steps that no running request can still claim are folded into counts, so memory follows the running batch, not the run.
 */
export class GapLog {
  #durations = new Float64Array(4096);
  #marks = new Int32Array(4096);
  /** Number of the first step still in the arrays above, and of the next one to be recorded. */
  #first = 0;
  #next = 0;
  /** Requests whose range covers the step before `#first`. */
  #open = 0;
  readonly #counts = new CountedValues();

  /** Number that the next recorded step will have. */
  get nextStep(): number {
    return this.#next;
  }

  record(durationUs: number): void {
    this.#durations[this.#next - this.#first] = durationUs;
    this.#next++;
  }

  /** Whether `record` needs `makeRoom` first. The mark after the last step needs a place too. */
  get isFull(): boolean {
    return this.#next - this.#first + 2 >= this.#durations.length;
  }

  /** Folds all steps before `oldest`, the first step that a running request may still claim, and grows if that is not enough. */
  makeRoom(oldest: number): void {
    this.#fold(Math.min(oldest, this.#next));
    if ((this.#next - this.#first) * 2 < this.#durations.length) return;
    this.#durations = doubled(this.#durations);
    this.#marks = doubled(this.#marks);
  }

  /** A finished request got a token in each of the steps from..to-1. */
  claim(from: number, to: number): void {
    this.#marks[from - this.#first]!++;
    this.#marks[to - this.#first]!--;
  }

  /** Durations of the steps from..to-1, all still there: a request that runs can claim them. */
  durations(from: number, to: number): Float64Array {
    return this.#durations.slice(from - this.#first, to - this.#first);
  }

  /** A gap of a finished request that is known by its duration. */
  add(us: number): void {
    this.#counts.add(us, 1);
  }

  /** All claimed gaps. Call it when nothing runs any more. */
  counts(): CountedValues {
    this.#fold(this.#next);
    return this.#counts;
  }

  #fold(until: number): void {
    const steps = until - this.#first;
    for (let i = 0; i < steps; i++) {
      this.#open += this.#marks[i]!;
      if (this.#open > 0) this.#counts.add(this.#durations[i]!, this.#open);
    }
    const left = this.#next - until;
    this.#durations.copyWithin(0, steps, steps + left);
    this.#marks.copyWithin(0, steps, steps + left + 1);
    this.#marks.fill(0, left + 1);
    this.#first = until;
  }
}

function doubled<T extends Float64Array | Int32Array>(old: T): T {
  const next = new (old.constructor as new (n: number) => T)(old.length * 2);
  next.set(old);
  return next;
}
