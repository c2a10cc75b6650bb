/** Something that happens at a moment. `isStale` events are dropped when their turn comes, as if they never existed. */
export interface ReferenceEvent {
  timeUs: number;
  priority: number;
  sequence: number;
  run(): void;
  isStale?(): boolean;
}

function comesBefore(a: ReferenceEvent, b: ReferenceEvent): boolean {
  if (a.timeUs !== b.timeUs) return a.timeUs < b.timeUs;
  if (a.priority !== b.priority) return a.priority < b.priority;
  return a.sequence < b.sequence;
}

/** A binary heap ordered by time, then priority, then order of insertion. */
export class EventHeap {
  readonly #heap: ReferenceEvent[] = [];
  #nextSequence = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** Time of the earliest event; Infinity when there is none. */
  get nextTimeUs(): number {
    return this.#heap[0]?.timeUs ?? Number.POSITIVE_INFINITY;
  }

  /** Priority of the earliest event. */
  get nextPriority(): number | undefined {
    return this.#heap[0]?.priority;
  }

  push(timeUs: number, priority: number, run: () => void, isStale?: () => boolean): void {
    const event: ReferenceEvent = { timeUs, priority, sequence: this.#nextSequence++, run };
    if (isStale !== undefined) event.isStale = isStale;
    const heap = this.#heap;
    heap.push(event);
    let child = heap.length - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!comesBefore(heap[child]!, heap[parent]!)) break;
      this.#swap(child, parent);
      child = parent;
    }
  }

  pop(): ReferenceEvent {
    const heap = this.#heap;
    this.#swap(0, heap.length - 1);
    const first = heap.pop()!;
    let parent = 0;
    for (;;) {
      let smallest = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) {
        if (child < heap.length && comesBefore(heap[child]!, heap[smallest]!)) smallest = child;
      }
      if (smallest === parent) return first;
      this.#swap(parent, smallest);
      parent = smallest;
    }
  }

  #swap(a: number, b: number): void {
    const kept = this.#heap[a]!;
    this.#heap[a] = this.#heap[b]!;
    this.#heap[b] = kept;
  }
}
