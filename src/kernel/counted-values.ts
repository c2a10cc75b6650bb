/** Values below this have their own bin; the few above are kept in a map. */
const BINS = 2 ** 18;
/** Bins are searched in strides of this many. */
const STRIDE = 256;

/** Whole numbers >= 0 with how often each occurs: equivalent to the sorted list with every value repeated. */
export class CountedValues {
  total = 0;
  sum = 0;
  #bins = new Float64Array(1024);
  readonly #large = new Map<number, number>();
  /** Entries of the list before each stride of bins, and the large values in order; computed on demand. */
  #strides: Float64Array | null = null;
  #largeSorted: [value: number, count: number][] = [];

  add(value: number, count: number): void {
    this.total += count;
    this.sum += value * count;
    this.#strides = null;
    if (value >= BINS) {
      this.#large.set(value, (this.#large.get(value) ?? 0) + count);
      return;
    }
    if (value >= this.#bins.length) this.#grow(value);
    this.#bins[value]! += count;
  }

  addAll(other: CountedValues): void {
    const from = other.#bins;
    if (from.length > this.#bins.length) this.#grow(from.length - 1);
    addBins(from, this.#bins);
    for (const [value, count] of other.#large) this.#large.set(value, (this.#large.get(value) ?? 0) + count);
    this.total += other.total;
    this.sum += other.sum;
    this.#strides = null;
  }

  /** Entry number `index` of the sorted list, 0 <= index < total. */
  at(index: number): number {
    this.#strides ??= this.#prepare();
    const strides = this.#strides;
    let stride = 0;
    while (stride + 1 < strides.length && strides[stride + 1]! <= index) stride++;
    let before = strides[stride]!;
    const end = Math.min((stride + 1) * STRIDE, this.#bins.length);
    for (let value = stride * STRIDE; value < end; value++) {
      before += this.#bins[value]!;
      if (before > index) return value;
    }
    for (const [value, count] of this.#largeSorted) {
      before += count;
      if (before > index) return value;
    }
    throw new RangeError(`entry ${index} of ${this.total}`);
  }

  #prepare(): Float64Array {
    this.#largeSorted = [...this.#large].sort(([a], [b]) => a - b);
    return strideStarts(this.#bins);
  }

  #grow(value: number): void {
    let length = this.#bins.length;
    while (length <= value) length *= 2;
    const grown = new Float64Array(length);
    grown.set(this.#bins);
    this.#bins = grown;
  }
}

function addBins(from: Float64Array, into: Float64Array): void {
  for (let value = 0; value < from.length; value++) into[value]! += from[value]!;
}

function strideStarts(bins: Float64Array): Float64Array {
  const starts = new Float64Array(Math.ceil(bins.length / STRIDE));
  let before = 0;
  for (let stride = 0; stride < starts.length; stride++) {
    starts[stride] = before;
    const end = Math.min((stride + 1) * STRIDE, bins.length);
    for (let value = stride * STRIDE; value < end; value++) before += bins[value]!;
  }
  return starts;
}
