import { grownArray, roomFor } from '../../kernel/grown-array.js';
import { IntMap } from '../../kernel/int-map.js';
import { NONE, RecencyLists } from '../../kernel/recency-lists.js';
import { rearrange } from '../rearrange.js';

/** Shares of tenants: one for requests without a tenant; tenants beyond the others have a share together. */
const SHARES = 16;

/** Prompts of so many blocks are read ahead, so many at a time. */
const MANY = 256;
const AHEAD = 32;

/**
 * Which prompt blocks the router has sent to which replica: for each replica the most recent `capacity` block ids. Ids
 * are whole numbers >= 0 and chained: equal leading ids mean a shared prefix.
 *
 * One entry means "this replica holds this block". The entries of a block form a chain that starts in one table for the
 * whole fleet, so that a lookup costs as much as it finds and not replicas x blocks; the entries of a replica form a
 * line per tenant, from the least to the most recently sent block. Memory grows as it fills, to replicas x capacity entries at
 * most.
 *
 * Blocks that no other request can have are only counted: one entry of the line represents all such blocks of a
 * request, and they leave it one by one like others do.
 *
 * A replica that is full drops blocks of the tenant that has more than an equal share of it, the one that sends first:
 * no tenant can displace what others hold within theirs. One tenant alone has everything.
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
  /** Of the tenant that sent it first. */
  #share = new Uint8Array(0);
  /** Entries ever used; freed ones are in a list along `chainNext`. */
  #entries = 0;
  #spare = NONE;

  // By replica and share: `replica * SHARES + share`.
  readonly #recency: RecencyLists;
  readonly #heldBy: Int32Array;

  // By replica: blocks, and shares that have some.
  readonly #held: Int32Array;
  readonly #sharing: Int32Array;
  /** Used by nothing: reads without a use would be left out by the compiler. */
  #read = 0;

  constructor(replicas: number, capacity: number) {
    this.#capacity = capacity;
    this.#recency = new RecencyLists(replicas * SHARES);
    this.#heldBy = new Int32Array(replicas * SHARES);
    this.#held = new Int32Array(replicas);
    this.#sharing = new Int32Array(replicas);
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
    let fetched = count < MANY ? count : 0;
    for (let depth = 0; depth < count; depth++) {
      if (depth >= fetched) {
        fetched = Math.min(count, depth + AHEAD);
        this.#prefetchBlocks(blocks, depth, fetched);
      }
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
   * @param tenant number of the tenant that sent them, -1 for none
   */
  touch(replica: number, blocks: Int32Array, count: number, solo = 0, tenant = -1): void {
    if (this.#capacity === 0) return;
    const share = tenant < 0 ? 0 : 1 + (tenant % (SHARES - 1));
    // Blocks sent together are adjacent in the list: the next entry is usually the block looked up next.
    let guess = NONE;
    let fetched = count < MANY ? count : 0;
    const recency = this.#recency;
    // Blocks of a long prompt that exceed the capacity would be dropped again before the last one.
    for (let i = count < MANY ? 0 : Math.max(0, count - 2 * this.#capacity); i < count; i++) {
      const block = blocks[i]!;
      let entry = guess;
      if (guess === NONE || this.#block[guess] !== block) {
        if (i >= fetched) {
          fetched = Math.min(count, i + AHEAD);
          this.#prefetch(replica * SHARES + share, blocks, i, fetched);
        }
        entry = this.#find(replica, block);
      }
      if (entry === NONE) {
        guess = NONE;
        this.#insert(replica, block, share);
      } else {
        const list = replica * SHARES + this.#share[entry]!;
        guess = recency.newer(entry);
        recency.remove(list, entry);
        recency.append(list, entry);
      }
    }
    if (solo > 0) this.#insertSolo(replica, solo, share);
  }

  /** The replica holds nothing any more. */
  forget(replica: number): void {
    for (let list = replica * SHARES; list < (replica + 1) * SHARES; list++) {
      for (let entry = this.#recency.oldest[list]!; entry !== NONE; entry = this.#recency.oldest[list]!) {
        const solo = -this.#block[entry]!;
        if (solo > 0) this.#dropSolo(list, entry, solo);
        else this.#drop(list, entry);
      }
    }
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
    const lists = new Int32Array(from.length * SHARES);
    for (let i = 0; i < lists.length; i++) {
      const before = from[Math.floor(i / SHARES)]!;
      lists[i] = before < 0 ? NONE : before * SHARES + (i % SHARES);
    }
    rearrange(this.#recency.oldest, lists, NONE);
    rearrange(this.#recency.newest, lists, NONE);
    rearrange(this.#heldBy, lists);
    rearrange(this.#held, from);
    rearrange(this.#sharing, from);
  }

  /**
   * Reads the places in the table of blocks that are about to be looked up. Reads that do not depend on each other
   * overlap: one by one, each would wait for memory.
   */
  #prefetchBlocks(blocks: Int32Array, from: number, to: number): void {
    let read = 0;
    for (let i = from; i < to; i++) read ^= this.#chains.peek(blocks[i]!);
    this.#read ^= read;
  }

  /** As well as the places of blocks that are about to be dropped. */
  #prefetch(list: number, blocks: Int32Array, from: number, to: number): void {
    this.#prefetchBlocks(blocks, from, to);
    if (this.#held[Math.floor(list / SHARES)]! + to - from <= this.#capacity) return;
    let read = 0;
    let entry = this.#recency.oldest[list]!;
    for (let i = from; i < to && entry !== NONE; i++) {
      read ^= this.#chains.peek(this.#block[entry]!);
      entry = this.#recency.newer(entry);
    }
    this.#read ^= read;
  }

  #find(replica: number, block: number): number {
    let entry = this.#chains.get(block);
    while (entry !== NONE && this.#replica[entry] !== replica) entry = this.#chainNext[entry]!;
    return entry;
  }

  #insert(replica: number, block: number, share: number): void {
    this.#makeRoom(replica, 1, share);
    const entry = this.#freshEntry();
    const head = this.#chains.get(block);
    this.#block[entry] = block;
    this.#replica[entry] = replica;
    this.#chainPrevious[entry] = NONE;
    this.#chainNext[entry] = head;
    if (head !== NONE) this.#chainPrevious[head] = entry;
    this.#chains.set(block, entry);
    this.#append(replica, entry, share, 1);
  }

  #insertSolo(replica: number, solo: number, share: number): void {
    const most = Math.floor(this.#capacity / this.#sharingWith(replica, share));
    const blocks = Math.min(solo, most);
    if (blocks === 0) return;
    this.#makeRoom(replica, blocks, share);
    const entry = this.#freshEntry();
    this.#block[entry] = -blocks;
    this.#append(replica, entry, share, blocks);
  }

  #append(replica: number, entry: number, share: number, blocks: number): void {
    const list = replica * SHARES + share;
    this.#share[entry] = share;
    this.#recency.append(list, entry);
    if (this.#heldBy[list] === 0) this.#sharing[replica]!++;
    this.#heldBy[list]! += blocks;
    this.#held[replica]! += blocks;
  }

  #release(list: number, blocks: number): void {
    const replica = Math.floor(list / SHARES);
    this.#heldBy[list]! -= blocks;
    this.#held[replica]! -= blocks;
    if (this.#heldBy[list] === 0) this.#sharing[replica]!--;
  }

  /** Shares of a replica, with this one. */
  #sharingWith(replica: number, share: number): number {
    return this.#sharing[replica]! + (this.#heldBy[replica * SHARES + share] === 0 ? 1 : 0);
  }

  /** Drops the least recent blocks of a share of a replica until the replica can hold `blocks` more. */
  #makeRoom(replica: number, blocks: number, share: number): void {
    let excess = Math.min(this.#held[replica]! + blocks - this.#capacity, this.#held[replica]!);
    while (excess > 0) {
      const list = this.#crowded(replica, blocks, share);
      const entry = this.#recency.oldest[list]!;
      const solo = -this.#block[entry]!;
      if (solo > excess) {
        this.#block[entry]! += excess;
        this.#release(list, excess);
        return;
      }
      if (solo > 0) this.#dropSolo(list, entry, solo);
      else this.#drop(list, entry);
      excess -= Math.max(solo, 1);
    }
  }

  /** The list to drop from: the share's own where it would be more than an equal one, else the longest. */
  #crowded(replica: number, blocks: number, share: number): number {
    const own = replica * SHARES + share;
    const held = this.#heldBy[own]!;
    if (held > 0 && (held + blocks) * this.#sharing[replica]! > this.#capacity) return own;
    let longest = replica * SHARES;
    for (let list = longest + 1; list < (replica + 1) * SHARES; list++) {
      if (this.#heldBy[list]! > this.#heldBy[longest]!) longest = list;
    }
    return longest;
  }

  #dropSolo(list: number, entry: number, blocks: number): void {
    this.#recency.remove(list, entry);
    this.#release(list, blocks);
    this.#chainNext[entry] = this.#spare;
    this.#spare = entry;
  }

  #drop(list: number, entry: number): void {
    const before = this.#chainPrevious[entry]!;
    const after = this.#chainNext[entry]!;
    if (after !== NONE) this.#chainPrevious[after] = before;
    if (before !== NONE) this.#chainNext[before] = after;
    else if (after !== NONE) this.#chains.set(this.#block[entry]!, after);
    else this.#chains.delete(this.#block[entry]!);
    this.#dropSolo(list, entry, 1);
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
    this.#share = grownArray(this.#share, room);
    this.#recency.reserve(room);
  }
}
