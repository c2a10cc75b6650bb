/** When requests came and went, in microseconds. NaN for what never happened. */
export interface RequestTimes {
  arrivalUs: ArrayLike<number>;
  ttftUs: ArrayLike<number>;
  /** From the arrival to the last token. */
  e2eUs: ArrayLike<number>;
}

/** The load over a span of time in equal bins. */
export interface LoadBins {
  fromUs: number;
  /** Width of a bin. */
  binUs: number;
  arrivals: Float64Array;
  /**
   * Requests' worth of output generated. A response that is half generated in a bin counts a half: completions alone come
   * too late to tell a fleet that falls behind from one that has just started.
   */
  served: Float64Array;
  /** Requests in flight on the mean, and those of them that generate tokens. */
  inFlight: Float64Array;
  generating: Float64Array;
}

/** @param endUs when requests that never end were last seen */
export function loadBins(
  { arrivalUs, ttftUs, e2eUs }: RequestTimes,
  fromUs: number,
  toUs: number,
  bins: number,
  endUs: number,
): LoadBins {
  const binUs = (toUs - fromUs) / bins;
  const arrivals = new Float64Array(bins);
  const served = new Spread(bins);
  const inFlight = new Spread(bins);
  const generating = new Spread(bins);
  const place = (us: number) => (us - fromUs) / binUs;
  for (let row = 0; row < arrivalUs.length; row++) {
    const arrival = arrivalUs[row]!;
    const at = place(arrival);
    if (at >= 0 && at <= bins) arrivals[Math.min(bins - 1, Math.floor(at))]! += 1;
    const done = !Number.isNaN(e2eUs[row]!);
    const left = place(done ? arrival + e2eUs[row]! : endUs);
    inFlight.add(at, left, 1);
    if (Number.isNaN(ttftUs[row]!)) continue;
    const first = place(arrival + ttftUs[row]!);
    generating.add(first, left, 1);
    if (done) served.addAmount(first, left, 1);
  }
  return {
    fromUs,
    binUs,
    arrivals,
    served: served.values(),
    inFlight: inFlight.values(),
    generating: generating.values(),
  };
}

/** Amounts spread evenly over stretches of time, added up by bin: constant work for each, however many bins it covers. */
class Spread {
  readonly #partial: Float64Array;
  /** Changes of the height of what covers whole bins. */
  readonly #steps: Float64Array;

  constructor(bins: number) {
    this.#partial = new Float64Array(bins);
    this.#steps = new Float64Array(bins + 1);
  }

  /** A height from one place to another, in bins. */
  add(from: number, to: number, height: number): void {
    const bins = this.#partial.length;
    const start = Math.max(0, from);
    const end = Math.min(bins, to);
    if (!(end > start)) return;
    const first = Math.min(bins - 1, Math.floor(start));
    const last = Math.min(bins - 1, Math.floor(end));
    if (first === last) {
      this.#partial[first]! += height * (end - start);
      return;
    }
    this.#partial[first]! += height * (first + 1 - start);
    this.#partial[last]! += height * (end - last);
    this.#steps[first + 1]! += height;
    this.#steps[last]! -= height;
  }

  /** An amount spread from one place to another; all of it at once where they are one. */
  addAmount(from: number, to: number, amount: number): void {
    const bin = Math.floor(from);
    if (to > from) this.add(from, to, amount / (to - from));
    else if (bin >= 0 && bin < this.#partial.length) this.#partial[bin]! += amount;
  }

  values(): Float64Array {
    let height = 0;
    return this.#partial.map((value, bin) => {
      height += this.#steps[bin]!;
      return value + height;
    });
  }
}
