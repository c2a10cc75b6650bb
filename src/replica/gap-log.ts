/** Gaps between tokens in microseconds and how often each occurred; a duration may stand in several places. */
export interface GapCounts {
  durationsUs: Float64Array;
  counts: Int32Array;
}

/**
 * The gaps between tokens of finished requests, without writing down a gap per token. A step's duration is the gap of
 * everybody who decoded in it, so a request's gaps are a range of steps: two marks in a difference array.
 * Steps that no running request can still claim are folded into counts of their own, and those that nobody claimed are
 * forgotten.
 */
export class GapLog {
  #durations = new Float64Array(4096);
  #marks = new Int32Array(4096);
  /** Number of the first step still in the arrays above, and of the next one to be recorded. */
  #first = 0;
  #next = 0;
  /** Requests whose range covers the step before `#first`. */
  #open = 0;
  /** Folded steps. */
  #gapUs = new Float64Array(4096);
  #count = new Int32Array(4096);
  #folded = 0;

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

  /** All claimed gaps. Call it when nothing runs any more. */
  counts(): GapCounts {
    this.#fold(this.#next);
    return { durationsUs: this.#gapUs.subarray(0, this.#folded), counts: this.#count.subarray(0, this.#folded) };
  }

  #fold(until: number): void {
    const steps = until - this.#first;
    for (let i = 0; i < steps; i++) {
      this.#open += this.#marks[i]!;
      if (this.#open > 0) this.#keep(this.#durations[i]!, this.#open);
    }
    const left = this.#next - until;
    this.#durations.copyWithin(0, steps, steps + left);
    this.#marks.copyWithin(0, steps, steps + left + 1);
    this.#marks.fill(0, left + 1);
    this.#first = until;
  }

  #keep(gapUs: number, count: number): void {
    if (this.#folded === this.#count.length) {
      this.#gapUs = doubled(this.#gapUs);
      this.#count = doubled(this.#count);
    }
    this.#gapUs[this.#folded] = gapUs;
    this.#count[this.#folded++] = count;
  }
}

function doubled<T extends Float64Array | Int32Array>(old: T): T {
  const next = new (old.constructor as new (n: number) => T)(old.length * 2);
  next.set(old);
  return next;
}
