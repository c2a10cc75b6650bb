import { grownArray, roomFor } from '../../kernel/grown-array.js';
import { IntMap } from '../../kernel/int-map.js';
import { NONE, RecencyLists } from '../../kernel/recency-lists.js';
import { rearrange } from '../rearrange.js';

/**
 * Which prompt blocks the router has sent to which replica: for each replica the most recent `capacity` block ids. Ids
 * are whole numbers >= 0 and chained: equal leading ids mean a shared prefix.
 *
 * One entry means "this replica holds this block". The entries of a block form a chain that starts in one table for the
 * whole fleet, so that a lookup costs as much as it finds and not replicas x blocks; the entries of a replica form a
 * line from the least to the most recently sent block. Memory grows as it fills, to replicas x capacity entries at
 * most.
 *
 * Blocks that no other request can have are only counted: one entry of the line represents all such blocks of a
 * request, and they leave it one by one like others do.
 */
export class PrefixIndex {
  readonly #capacity: number;
  /** Block to the first entry of its chain. */
  readonly #chains = new IntMap();

  // By entry.
  #block = new Int32Array(0);
  #replica = new Int32Array(0);
  #chainNext = new Int32Array(0);
  #chainPrevious = new Int32Array(0);
  /** Entries ever used; freed ones are in a list along `chainNext`. */
  #entries = 0;
  #spare = NONE;

  // By replica.
  readonly #recency: RecencyLists;
  readonly #held: Int32Array;

  constructor(replicas: number, capacity: number) {
    this.#capacity = capacity;
    this.#recency = new RecencyLists(replicas);
    this.#held = new Int32Array(replicas);
  }

  /** Blocks that the replica holds. */
  held(replica: number): number {
    return this.#held[replica]!;
  }

  /** Writes for every replica how many of the leading blocks it holds without a gap. Changes nothing. */
  match(blocks: Int32Array, count: number, matched: Int32Array): void {
    const replica = this.#replica;
    const chainNext = this.#chainNext;
    matched.fill(0);
    for (let depth = 0; depth < count; depth++) {
      let found = false;
      for (let entry = this.#chains.get(blocks[depth]!); entry !== NONE; entry = chainNext[entry]!) {
        const holder = replica[entry]!;
        if (matched[holder] !== depth) continue;
        matched[holder] = depth + 1;
        found = true;
      }
      if (!found) return;
    }
  }

  /**
   * The replica was sent these blocks and then `solo` ones that no other request has: each in turn becomes its most
   * recent one.
   */
  touch(replica: number, blocks: Int32Array, count: number, solo = 0): void {
    if (this.#capacity === 0) return;
    // Blocks sent together are adjacent in the list: the next entry is usually the block looked up next.
    let guess = NONE;
    const recency = this.#recency;
    for (let i = 0; i < count; i++) {
      const block = blocks[i]!;
      const entry = guess !== NONE && this.#block[guess] === block ? guess : this.#find(replica, block);
      if (entry === NONE) {
        guess = NONE;
        this.#insert(replica, block);
      } else {
        guess = recency.newer(entry);
        recency.remove(replica, entry);
        recency.append(replica, entry);
      }
    }
    if (solo > 0) this.#insertSolo(replica, Math.min(solo, this.#capacity));
  }

  /** The replica holds nothing any more. */
  forget(replica: number): void {
    this.#makeRoom(replica, this.#capacity);
  }

  /**
   * The fleet has changed: slot i is now the replica of slot from[i], or a new one that holds nothing where that is -1.
   */
  rearrange(from: Int32Array): void {
    const to = new Int32Array(this.#held.length).fill(NONE);
    for (let i = 0; i < from.length; i++) if (from[i]! >= 0) to[from[i]!] = i;
    for (let replica = 0; replica < to.length; replica++) if (to[replica] === NONE) this.forget(replica);
    const replicas = this.#replica;
    for (let entry = 0; entry < this.#entries; entry++) {
      // Entries without a shared block may name any replica, or one that is gone.
      if (replicas[entry]! >= 0) replicas[entry] = to[replicas[entry]!]!;
    }
    rearrange(this.#recency.oldest, from, NONE);
    rearrange(this.#recency.newest, from, NONE);
    rearrange(this.#held, from);
  }

  #find(replica: number, block: number): number {
    let entry = this.#chains.get(block);
    while (entry !== NONE && this.#replica[entry] !== replica) entry = this.#chainNext[entry]!;
    return entry;
  }

  #insert(replica: number, block: number): void {
    this.#makeRoom(replica, 1);
    const entry = this.#freshEntry();
    const head = this.#chains.get(block);
    this.#block[entry] = block;
    this.#replica[entry] = replica;
    this.#chainPrevious[entry] = NONE;
    this.#chainNext[entry] = head;
    if (head !== NONE) this.#chainPrevious[head] = entry;
    this.#chains.set(block, entry);
    this.#recency.append(replica, entry);
    this.#held[replica]!++;
  }

  #insertSolo(replica: number, blocks: number): void {
    this.#makeRoom(replica, blocks);
    const entry = this.#freshEntry();
    this.#block[entry] = -blocks;
    this.#recency.append(replica, entry);
    this.#held[replica]! += blocks;
  }

  /** Drops the least recent blocks of a replica until it can hold `blocks` more. */
  #makeRoom(replica: number, blocks: number): void {
    let excess = Math.min(this.#held[replica]! + blocks - this.#capacity, this.#held[replica]!);
    while (excess > 0) {
      const entry = this.#recency.oldest[replica]!;
      const solo = -this.#block[entry]!;
      if (solo > excess) {
        this.#block[entry]! += excess;
        this.#held[replica]! -= excess;
        return;
      }
      if (solo > 0) this.#dropSolo(replica, entry, solo);
      else this.#drop(replica, entry);
      excess -= Math.max(solo, 1);
    }
  }

  #dropSolo(replica: number, entry: number, blocks: number): void {
    this.#recency.remove(replica, entry);
    this.#held[replica]! -= blocks;
    this.#chainNext[entry] = this.#spare;
    this.#spare = entry;
  }

  #drop(replica: number, entry: number): void {
    const before = this.#chainPrevious[entry]!;
    const after = this.#chainNext[entry]!;
    if (after !== NONE) this.#chainPrevious[after] = before;
    if (before !== NONE) this.#chainNext[before] = after;
    else if (after !== NONE) this.#chains.set(this.#block[entry]!, after);
    else this.#chains.delete(this.#block[entry]!);
    this.#recency.remove(replica, entry);
    this.#held[replica]!--;
    this.#chainNext[entry] = this.#spare;
    this.#spare = entry;
  }

  #freshEntry(): number {
    const spare = this.#spare;
    if (spare !== NONE) {
      this.#spare = this.#chainNext[spare]!;
      return spare;
    }
    if (this.#entries === this.#block.length) this.#grow();
    return this.#entries++;
  }

  #grow(): void {
    const most = this.#held.length * this.#capacity;
    const room = Math.min(roomFor(this.#entries, this.#block.length), most);
    this.#block = grownArray(this.#block, room);
    this.#replica = grownArray(this.#replica, room);
    this.#chainNext = grownArray(this.#chainNext, room);
    this.#chainPrevious = grownArray(this.#chainPrevious, room);
    this.#recency.reserve(room);
  }
}
