/**
 * Events whose times never go back from push to push (a constant delay after something in time order): a ring on typed
 * arrays replaces the heap, in constant time.
 */
export class EventFifo {
  #times = new Float64Array(16);
  #payloads = new Int32Array(16);
  #start = 0;
  #size = 0;
  /** Time of the next event, Infinity when there is none. */
  nextUs = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#size;
  }

  push(timeUs: number, payload: number): void {
    if (this.#size === this.#times.length) this.#grow();
    const at = (this.#start + this.#size) & (this.#times.length - 1);
    this.#times[at] = timeUs;
    this.#payloads[at] = payload;
    if (this.#size++ === 0) this.nextUs = timeUs;
  }

  /** Removes the next event and returns its payload. Only call it when `size` is not 0. */
  pop(): number {
    const payload = this.#payloads[this.#start]!;
    this.#start = (this.#start + 1) & (this.#times.length - 1);
    this.nextUs = --this.#size === 0 ? Number.POSITIVE_INFINITY : this.#times[this.#start]!;
    return payload;
  }

  #grow(): void {
    const capacity = this.#times.length;
    const times = new Float64Array(capacity * 2);
    const payloads = new Int32Array(capacity * 2);
    for (let i = 0; i < this.#size; i++) {
      times[i] = this.#times[(this.#start + i) & (capacity - 1)]!;
      payloads[i] = this.#payloads[(this.#start + i) & (capacity - 1)]!;
    }
    this.#times = times;
    this.#payloads = payloads;
    this.#start = 0;
  }
}
