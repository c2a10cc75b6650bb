import { grownArray, roomFor } from '../../../kernel/grown-array.js';
import { NONE, RecencyLists } from '../../../kernel/recency-lists.js';
import { rearrange } from '../../rearrange.js';
import { BlockRuns } from './block-runs.js';
import { SHARES, shareOf, TenantShares } from './tenant-shares.js';

/**
 * Which prompt blocks the router has sent to which replica: for each replica the most recent `capacity` block ids. Ids
 * are whole numbers >= 0 and chained: equal ids mean that everything up to them is equal.
 *
 * Blocks that were only ever sent together are one run, whatever their number: a prompt is looked up and noted run by
 * run. A prompt that leaves a run in its middle, or ends there, splits it.
 *
 * One entry means "this replica holds the last `held` blocks of this run". The entries of a run form a chain that starts
 * in one table for the whole fleet, so that a lookup costs as much as it finds and not replicas x blocks; the entries of
 * a replica form a line per tenant, from the least to the most recently sent one, in which the blocks of an entry leave
 * one by one, the first of the run first.
 *
 * Blocks that no other request can have are only counted: an entry without a run represents all such blocks of a request.
 */
export class PrefixIndex {
  readonly #capacity: number;
  readonly #runs = new BlockRuns();

  // By entry.
  /** `NONE` for blocks that are only counted. */
  #run = new Int32Array(0);
  #replica = new Int32Array(0);
  #blocks = new Int32Array(0);
  #chainNext = new Int32Array(0);
  #chainPrevious = new Int32Array(0);
  /** Of the tenant that sent it first. */
  #share = new Uint8Array(0);
  /** Entries ever used; freed ones are in a list along `chainNext`. */
  #entries = 0;
  #spare = NONE;

  /** A list per replica and share. */
  readonly #recency: RecencyLists;
  readonly #shares: TenantShares;

  constructor(replicas: number, capacity: number) {
    this.#capacity = capacity;
    this.#recency = new RecencyLists(replicas * SHARES);
    this.#shares = new TenantShares(replicas, capacity);
  }

  /** Blocks that the replica holds. */
  held(replica: number): number {
    return this.#shares.held(replica);
  }

  /** Writes for the first replicas, all by default, how many of the leading blocks each holds without a gap. Changes nothing. */
  match(blocks: Int32Array, count: number, matched: Int32Array, replicas = matched.length): void {
    const runs = this.#runs;
    const replica = this.#replica;
    const held = this.#blocks;
    const chainNext = this.#chainNext;
    matched.fill(0, 0, replicas);
    for (let depth = 0; depth < count; ) {
      const run = runs.find(blocks[depth]!);
      if (run === NONE) return;
      const length = runs.length[run]!;
      const common = runs.common(run, blocks, depth, count);
      let isFound = false;
      for (let entry = runs.head[run]!; entry !== NONE; entry = chainNext[entry]!) {
        const holder = replica[entry]!;
        if (matched[holder] !== depth || held[entry] !== length) continue;
        matched[holder] = depth + common;
        isFound = true;
      }
      if (!isFound || common < length) return;
      depth += common;
    }
  }

  /**
   * The replica was sent these blocks and then `solo` ones that no other request has: each in turn becomes its most
   * recent one.
   * @param tenant number of the tenant that sent them, -1 for none
   */
  touch(replica: number, blocks: Int32Array, count: number, solo = 0, tenant = -1): void {
    if (this.#capacity === 0) return;
    const runs = this.#runs;
    const share = shareOf(tenant);
    for (let at = 0; at < count; ) {
      let run = runs.find(blocks[at]!);
      if (run === NONE) {
        // Blocks of a long prompt that exceed the capacity would be dropped again at its end.
        run = runs.add(blocks, Math.max(at, count - this.#capacity), count);
        this.#insert(run, replica, share);
        break;
      }
      const common = runs.common(run, blocks, at, count);
      if (common < runs.length[run]!) run = this.#split(run, common);
      at += this.#use(run, replica, share);
    }
    if (solo > 0) {
      const entry = this.#freshEntry();
      this.#run[entry] = NONE;
      this.#append(replica, entry, share, Math.min(solo, this.#capacity));
    }
    this.#trim(replica, share);
  }

  /** The replica holds nothing any more. */
  forget(replica: number): void {
    for (let list = replica * SHARES; list < (replica + 1) * SHARES; list++) {
      for (let entry = this.#recency.oldest[list]!; entry !== NONE; entry = this.#recency.oldest[list]!) {
        this.#drop(list, entry);
      }
    }
  }

  /**
   * The fleet has changed: slot i is now the replica of slot from[i], or a new one that holds nothing where that is -1.
   */
  rearrange(from: Int32Array): void {
    const to = new Int32Array(this.#shares.replicas).fill(NONE);
    for (let i = 0; i < from.length; i++) if (from[i]! >= 0) to[from[i]!] = i;
    for (let replica = 0; replica < to.length; replica++) if (to[replica] === NONE) this.forget(replica);
    const replicas = this.#replica;
    for (let entry = 0; entry < this.#entries; entry++) {
      // Unused entries may name any replica, or one that is gone.
      if (replicas[entry]! >= 0) replicas[entry] = to[replicas[entry]!]!;
    }
    const lists = this.#shares.rearrange(from);
    rearrange(this.#recency.oldest, lists, NONE);
    rearrange(this.#recency.newest, lists, NONE);
  }

  /** Makes a run the most recent one of a replica. Returns how many of its blocks are: the first, if not all. */
  #use(run: number, replica: number, share: number): number {
    const entry = this.#find(run, replica);
    if (entry === NONE) return this.#insert(run, replica, share);
    const length = this.#runs.length[run]!;
    const missing = length - this.#blocks[entry]!;
    const own = this.#share[entry]!;
    // What was dropped belongs to the tenant that sends it again.
    if (missing > 0 && own !== share) return this.#insert(this.#split(run, missing), replica, share);
    const list = replica * SHARES + own;
    this.#recency.remove(list, entry);
    this.#recency.append(list, entry);
    this.#blocks[entry] = length;
    this.#shares.add(list, missing);
    return length;
  }

  #find(run: number, replica: number): number {
    let entry = this.#runs.head[run]!;
    while (entry !== NONE && this.#replica[entry] !== replica) entry = this.#chainNext[entry]!;
    return entry;
  }

  /** A new entry for a whole run. Returns the run's length. */
  #insert(run: number, replica: number, share: number): number {
    const length = this.#runs.length[run]!;
    const entry = this.#freshEntry();
    this.#link(entry, run);
    this.#append(replica, entry, share, length);
    return length;
  }

  #link(entry: number, run: number): void {
    const head = this.#runs.head[run]!;
    this.#run[entry] = run;
    this.#chainPrevious[entry] = NONE;
    this.#chainNext[entry] = head;
    if (head !== NONE) this.#chainPrevious[head] = entry;
    this.#runs.head[run] = entry;
  }

  /** Splits a run and its entries. Returns the run of the first blocks. */
  #split(run: number, at: number): number {
    const front = this.#runs.split(run, at);
    const length = this.#runs.length[run]!;
    for (let entry = this.#runs.head[run]!; entry !== NONE; entry = this.#chainNext[entry]!) {
      const first = this.#blocks[entry]! - length;
      if (first <= 0) continue;
      const replica = this.#replica[entry]!;
      const share = this.#share[entry]!;
      const fresh = this.#freshEntry();
      this.#blocks[entry] = length;
      this.#blocks[fresh] = first;
      this.#replica[fresh] = replica;
      this.#share[fresh] = share;
      this.#link(fresh, front);
      this.#recency.insertBefore(replica * SHARES + share, fresh, entry);
    }
    return front;
  }

  #append(replica: number, entry: number, share: number, blocks: number): void {
    const list = replica * SHARES + share;
    this.#replica[entry] = replica;
    this.#share[entry] = share;
    this.#blocks[entry] = blocks;
    this.#recency.append(list, entry);
    this.#shares.add(list, blocks);
  }

  /** Drops the least recent blocks of a replica that has too many. */
  #trim(replica: number, sender: number): void {
    const shares = this.#shares;
    for (let excess = shares.held(replica) - this.#capacity; excess > 0; ) {
      const list = shares.crowded(replica, sender);
      const entry = this.#recency.oldest[list]!;
      const dropped = Math.min(excess, shares.surplus, this.#blocks[entry]!);
      excess -= dropped;
      if (dropped === this.#blocks[entry]) this.#drop(list, entry);
      else {
        this.#blocks[entry]! -= dropped;
        shares.release(list, dropped);
      }
    }
  }

  #drop(list: number, entry: number): void {
    this.#recency.remove(list, entry);
    this.#shares.release(list, this.#blocks[entry]!);
    const run = this.#run[entry]!;
    if (run !== NONE) {
      const before = this.#chainPrevious[entry]!;
      const after = this.#chainNext[entry]!;
      if (after !== NONE) this.#chainPrevious[after] = before;
      if (before !== NONE) this.#chainNext[before] = after;
      else if (after !== NONE) this.#runs.head[run] = after;
      else this.#runs.delete(run);
    }
    this.#chainNext[entry] = this.#spare;
    this.#spare = entry;
  }

  #freshEntry(): number {
    const spare = this.#spare;
    if (spare !== NONE) {
      this.#spare = this.#chainNext[spare]!;
      return spare;
    }
    if (this.#entries === this.#run.length) this.#grow();
    return this.#entries++;
  }

  #grow(): void {
    const room = roomFor(this.#entries, this.#run.length);
    this.#run = grownArray(this.#run, room);
    this.#replica = grownArray(this.#replica, room);
    this.#blocks = grownArray(this.#blocks, room);
    this.#chainNext = grownArray(this.#chainNext, room);
    this.#chainPrevious = grownArray(this.#chainPrevious, room);
    this.#share = grownArray(this.#share, room);
    this.#recency.reserve(room);
  }
}
