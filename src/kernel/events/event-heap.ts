/**
 * Events ordered by (time, order of insertion): a binary heap on typed arrays, no object per event.
 * The payload is a whole number whose meaning the owner defines.
 */
export class EventHeap {
  #times = new Float64Array(16);
  #sequences = new Float64Array(16);
  #payloads = new Int32Array(16);
  #size = 0;
  #pushed = 0;

  get size(): number {
    return this.#size;
  }

  /** Time of the next event, Infinity when there is none. */
  get nextUs(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : this.#times[0]!;
  }

  push(timeUs: number, payload: number): void {
    if (this.#size === this.#times.length) this.#grow();
    const times = this.#times;
    const sequences = this.#sequences;
    const payloads = this.#payloads;
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      // A new event has the highest sequence number: it stays below everything of the same time.
      if (times[parent]! <= timeUs) break;
      times[at] = times[parent]!;
      sequences[at] = sequences[parent]!;
      payloads[at] = payloads[parent]!;
      at = parent;
    }
    times[at] = timeUs;
    sequences[at] = this.#pushed++;
    payloads[at] = payload;
  }

  /** Removes the next event and returns its payload. Only call it when `size` is not 0. */
  pop(): number {
    const times = this.#times;
    const sequences = this.#sequences;
    const payloads = this.#payloads;
    const result = payloads[0]!;
    const last = --this.#size;
    const time = times[last]!;
    const sequence = sequences[last]!;
    const payload = payloads[last]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= last) break;
      const right = child + 1;
      if (right < last && earlier(times[right]!, sequences[right]!, times[child]!, sequences[child]!)) child = right;
      if (!earlier(times[child]!, sequences[child]!, time, sequence)) break;
      times[at] = times[child]!;
      sequences[at] = sequences[child]!;
      payloads[at] = payloads[child]!;
      at = child;
    }
    times[at] = time;
    sequences[at] = sequence;
    payloads[at] = payload;
    return result;
  }

  #grow(): void {
    const capacity = this.#times.length * 2;
    const times = new Float64Array(capacity);
    const sequences = new Float64Array(capacity);
    const payloads = new Int32Array(capacity);
    times.set(this.#times);
    sequences.set(this.#sequences);
    payloads.set(this.#payloads);
    this.#times = times;
    this.#sequences = sequences;
    this.#payloads = payloads;
  }
}

function earlier(timeA: number, sequenceA: number, timeB: number, sequenceB: number): boolean {
  return timeA < timeB || (timeA === timeB && sequenceA < sequenceB);
}
