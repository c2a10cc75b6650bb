import { DueSlots } from './due-slots.js';

const NONE = -1;
/** Below every base: no slot decodes. */
const NOBODY = Number.NEGATIVE_INFINITY;

/**
 * The requests that hold a seat in the running batch. A seat is a slot: a small number that indexes these columns.
 *
 * Decoding slots advance by one token in nearly every step, so their progress is not written down per step: progress =
 * base + clock, where `clock` counts the steps in which all decoding slots get a token. A slot that has to sit out one
 * step has its base lowered by one. The same trick finds the slots that need a new KV block in this step: those with a
 * multiple of the block size in their blocks form a ring of their own, kept in batch order.
 */
export class RunningBatch {
  /** Slots in batch order. */
  order = new Int32Array(256);
  size = 0;
  /** Decode steps so far. */
  clock = 0;
  decoding = 0;
  /** Sum of `base` over decoding slots: the sum of contexts is this + decoding * clock. */
  baseSum = 0;
  /** Decoding slots whose output a later request may hit in the cache. */
  keyedDecoding = 0;

  row = new Int32Array(256);
  /** Place in the order of admission: sorts slots like the batch list does. */
  seat = new Float64Array(256);
  input = new Int32Array(256);
  /** Prompt tokens computed so far; the whole input once the slot decodes. */
  computed = new Int32Array(256);
  /** Tokens the slot gets in this step, while the careful walk forms the batch. */
  newTokens = new Int32Array(256);
  decodes = new Uint8Array(256);
  /** The whole prompt was in the cache, and the slot owns none of it. */
  fullHit = new Uint8Array(256);
  base = new Int32Array(256);
  /** The clock at which the slot is done. */
  doneAt = new Int32Array(256);
  /**
   * Tokens in the slot's blocks beyond its context: an empty prompt is given a block for its first output token early.
   */
  ahead = new Int32Array(256);
  /** Keys of the slot's blocks, and how many of them may be remembered. */
  keys: Int32Array[] = [];
  keyCount = new Int32Array(256);
  /** When the first token came out, and the step that made the second one. */
  decodeStartUs = new Float64Array(256);
  firstGap = new Float64Array(256);
  /** Duration of steps the slot had to sit out since its first token. */
  idleUs = new Float64Array(256);

  /** Step ranges (from, to pairs) before the steps that a slot had to sit out, by slot. */
  readonly earlierGaps = new Map<number, number[]>();

  readonly #blockSize: number;
  readonly #ringHead: Int32Array;
  readonly #ringTail: Int32Array;
  readonly #ringSize: Int32Array;
  #ringNext = new Int32Array(256);
  #ringPrevious = new Int32Array(256);
  readonly #due = new DueSlots();
  readonly #freeSlots: number[] = [];
  /** The largest `base` of decoding slots; NaN when it has to be looked for. */
  #longestBase = NOBODY;
  #slots = 0;
  #seats = 0;

  constructor(blockSize: number) {
    this.#blockSize = blockSize;
    this.#ringHead = new Int32Array(blockSize).fill(NONE);
    this.#ringTail = new Int32Array(blockSize).fill(NONE);
    this.#ringSize = new Int32Array(blockSize);
  }

  /** Context length of a decoding slot before this step. */
  progress(slot: number): number {
    return this.base[slot]! + this.clock;
  }

  /** Tokens in the blocks of a decoding slot before this step. */
  stored(slot: number): number {
    return this.base[slot]! + this.clock + this.ahead[slot]!;
  }

  /**
   * Longest context of a decoding slot before this step, 0 when none decodes. Visits all slots only when the longest
   * has left.
   */
  longestContext(): number {
    if (this.decoding === 0) return 0;
    if (Number.isNaN(this.#longestBase)) {
      this.#longestBase = NOBODY;
      for (let place = 0; place < this.size; place++) this.#noteLonger(this.order[place]!);
    }
    return this.#longestBase + this.clock;
  }

  #noteLonger(slot: number): void {
    if (this.decodes[slot] === 1 && this.base[slot]! > this.#longestBase) this.#longestBase = this.base[slot]!;
  }

  /** A decoding slot leaves, or its base changes. */
  #forgetLength(slot: number): void {
    if (this.base[slot] === this.#longestBase) this.#longestBase = Number.NaN;
  }

  /** The slot that joins the batch with the next `seatAtTail`. */
  freeSlot(): number {
    const recycled = this.#freeSlots.length;
    return recycled > 0 ? this.#freeSlots[recycled - 1]! : this.#slots;
  }

  /** The slot of the last `freeSlot` joins. */
  seatAtTail(slot: number): void {
    if (slot === this.#slots) {
      if (slot === this.order.length) this.#grow();
      this.#slots++;
    } else {
      this.#freeSlots.pop();
    }
    this.order[this.size++] = slot;
    this.seat[slot] = this.#seats++;
    this.decodes[slot] = 0;
    this.idleUs[slot] = 0;
  }

  /** Removes the slot at a place of the batch order; the ones behind it move up. */
  unseat(place: number): void {
    const slot = this.order[place]!;
    this.order.copyWithin(place, place + 1, this.size);
    this.size--;
    this.#leave(slot);
  }

  /** Place of a slot in the batch order. */
  placeOf(slot: number): number {
    const seat = this.seat[slot]!;
    let low = 0;
    let high = this.size - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.seat[this.order[middle]!]! < seat) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Place of the slot that a request holds; it must hold one. */
  placeOfRow(row: number): number {
    let place = 0;
    while (this.row[this.order[place]!] !== row) place++;
    return place;
  }

  #leave(slot: number): void {
    if (this.decodes[slot] === 1) {
      this.#unlink(slot);
      this.#due.remove(slot, this.doneAt[slot]!);
      this.decoding--;
      this.keyedDecoding -= this.#isKeyed(slot);
      this.baseSum -= this.base[slot]!;
      if (this.decoding === 0) this.#longestBase = NOBODY;
      else this.#forgetLength(slot);
      this.decodes[slot] = 0;
      if (this.idleUs[slot]! > 0) this.earlierGaps.delete(slot);
    }
    this.#freeSlots.push(slot);
  }

  /** The prompt is done: from the next step on the slot decodes, until its context is `target` tokens long. */
  startDecoding(slot: number, target: number): void {
    this.decodes[slot] = 1;
    this.base[slot] = this.input[slot]! - this.clock;
    this.doneAt[slot] = target - this.base[slot]!;
    this.decoding++;
    this.keyedDecoding += this.#isKeyed(slot);
    this.baseSum += this.base[slot]!;
    this.#noteLonger(slot);
    this.#link(slot);
    this.#due.add(slot, this.doneAt[slot]!);
  }

  /** Call it before the clock moves on: the slot gets no token in this step. */
  sitOut(slot: number): void {
    this.#unlink(slot);
    this.#due.remove(slot, this.doneAt[slot]!);
    this.#forgetLength(slot);
    this.base[slot]!--;
    this.doneAt[slot]!++;
    this.baseSum--;
    this.#link(slot);
    this.#due.add(slot, this.doneAt[slot]!);
  }

  /** Whether a slot may be done after the next step; slots that finish some multiple of the rings later count too. */
  mayFinishNext(): boolean {
    return this.#due.hasAny(this.clock + 1);
  }

  /** Adds the slots that are done at the present clock to a list, in batch order. */
  collectDone(into: number[]): void {
    this.#due.collect(this.clock, this.doneAt, into);
    if (into.length > 1) into.sort((a, b) => this.seat[a]! - this.seat[b]!);
  }

  /**
   * The ring of slots with `offset` tokens in their blocks modulo the block size. A step later it is the one before it.
   */
  ringAt(offset: number): number {
    return this.#residue(offset - this.clock);
  }

  /** The ring before this one, round and round. */
  ringBefore(ring: number): number {
    return ring === 0 ? this.#blockSize - 1 : ring - 1;
  }

  firstOfRing(ring: number): number {
    return this.#ringHead[ring]!;
  }

  sizeOfRing(ring: number): number {
    return this.#ringSize[ring]!;
  }

  ringNext(slot: number): number {
    return this.#ringNext[slot]!;
  }

  #isKeyed(slot: number): number {
    return this.keyCount[slot]! * this.#blockSize > this.input[slot]! ? 1 : 0;
  }

  #residue(value: number): number {
    const size = this.#blockSize;
    const rest = value % size;
    return rest < 0 ? rest + size : rest;
  }

  #link(slot: number): void {
    const ring = this.#residue(this.base[slot]! + this.ahead[slot]!);
    const seat = this.seat[slot]!;
    let after = this.#ringTail[ring]!;
    while (after >= 0 && this.seat[after]! > seat) after = this.#ringPrevious[after]!;
    const before = after < 0 ? this.#ringHead[ring]! : this.#ringNext[after]!;
    this.#ringPrevious[slot] = after;
    this.#ringNext[slot] = before;
    if (after < 0) this.#ringHead[ring] = slot;
    else this.#ringNext[after] = slot;
    if (before < 0) this.#ringTail[ring] = slot;
    else this.#ringPrevious[before] = slot;
    this.#ringSize[ring]!++;
  }

  #unlink(slot: number): void {
    const ring = this.#residue(this.base[slot]! + this.ahead[slot]!);
    const previous = this.#ringPrevious[slot]!;
    const next = this.#ringNext[slot]!;
    if (previous < 0) this.#ringHead[ring] = next;
    else this.#ringNext[previous] = next;
    if (next < 0) this.#ringTail[ring] = previous;
    else this.#ringPrevious[next] = previous;
    this.#ringSize[ring]!--;
  }

  #grow(): void {
    const capacity = this.order.length * 2;
    const wider = <T extends Int32Array | Float64Array | Uint8Array>(old: T): T => {
      const next = new (old.constructor as new (n: number) => T)(capacity);
      next.set(old);
      return next;
    };
    this.order = wider(this.order);
    this.row = wider(this.row);
    this.seat = wider(this.seat);
    this.input = wider(this.input);
    this.computed = wider(this.computed);
    this.newTokens = wider(this.newTokens);
    this.decodes = wider(this.decodes);
    this.fullHit = wider(this.fullHit);
    this.base = wider(this.base);
    this.doneAt = wider(this.doneAt);
    this.ahead = wider(this.ahead);
    this.keyCount = wider(this.keyCount);
    this.decodeStartUs = wider(this.decodeStartUs);
    this.firstGap = wider(this.firstGap);
    this.idleUs = wider(this.idleUs);
    this.#ringNext = wider(this.#ringNext);
    this.#ringPrevious = wider(this.#ringPrevious);
    this.#due.grow(capacity);
  }
}
