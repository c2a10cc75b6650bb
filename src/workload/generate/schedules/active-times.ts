/** When a client is active: ordered windows that do not overlap. The end of a window is not part of it. */
export class ActiveTimes {
  readonly #starts: Float64Array;
  readonly #ends: Float64Array;
  /** The period after which the windows repeat; 0: they do not. */
  readonly periodUs: number;

  constructor(windows: readonly { start_us: number; end_us: number }[], periodUs = 0) {
    this.#starts = Float64Array.from(windows, ({ start_us }) => start_us);
    this.#ends = Float64Array.from(windows, ({ end_us }) => end_us);
    this.periodUs = periodUs;
  }

  get count(): number {
    return this.#starts.length;
  }

  /** Infinity after the last one. */
  start(window: number): number {
    return this.#edge(this.#starts, window);
  }

  end(window: number): number {
    return this.#edge(this.#ends, window);
  }

  /** The first active time from this one on; Infinity when there is none. */
  firstFrom(atUs: number): number {
    let window = 0;
    while (this.end(window) <= atUs) window++;
    return Math.max(atUs, this.start(window));
  }

  /** Whether both are ever active at the same time. Repeating windows count as always active. */
  meets(other: ActiveTimes): boolean {
    if (this.periodUs > 0 || other.periodUs > 0) return true;
    for (let mine = 0, theirs = 0; mine < this.count && theirs < other.count; ) {
      if (this.end(mine) <= other.start(theirs)) mine++;
      else if (other.end(theirs) <= this.start(mine)) theirs++;
      else return true;
    }
    return false;
  }

  #edge(edges: Float64Array, window: number): number {
    if (this.periodUs === 0) return window < edges.length ? edges[window]! : Number.POSITIVE_INFINITY;
    const round = Math.floor(window / edges.length);
    return edges[window - round * edges.length]! + round * this.periodUs;
  }
}
