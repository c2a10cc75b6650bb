import { IntMap } from '../../kernel/int-map.js';
import { BlockPool, NO_BLOCK } from './block-pool.js';

/**
 * KV memory of one replica: blocks, their owners, and which content can be found again (prefix caching). Content is
 * known by block keys (see PromptKeys): a key stands for everything up to the end of its block. Only blocks that may be
 * looked up again are given keys; the rest cost no lookup.
 *
 * Owners are batch slots: small numbers that are used again. A slot's blocks are those it claimed from the cache, then
 * those it filled itself: the latter are a stack linked through the blocks, since each block is filled by one slot
 * only.
 */
export class KvCache {
  readonly pool: BlockPool;
  /** Blocks found in the cache and claimed / blocks newly filled, since the start. */
  hits = 0;
  misses = 0;
  /** Grows whenever blocks come back or what can be found changes: what did not fit may fit then. */
  changes = 0;
  readonly #blockSize: number;
  readonly #losesCopies: boolean;
  readonly #blockOf: IntMap;
  /** By slot: the last block it filled, and how many. */
  #top = new Int32Array(256).fill(NO_BLOCK);
  #filled = new Int32Array(256);
  /** By slot: blocks found in the cache, and how many. */
  readonly #claimed: Int32Array[] = [];
  #claimedCount = new Int32Array(256);
  /** What the last `find` found, and how many of these blocks had no owner. */
  #found: Int32Array = new Int32Array(64);
  #foundFree = 0;
  /**
   * What changed since the last freeze: key to 1 when it was there then, 0 when not. Null while freezes are not
   * tracked.
   */
  #sinceFreeze: IntMap | null = null;
  #frozenEmpty = false;

  /** @param losesCopies see EngineRules */
  constructor(totalBlocks: number, blockSize: number, losesCopies = true) {
    this.pool = new BlockPool(totalBlocks);
    this.#blockSize = blockSize;
    this.#losesCopies = losesCopies;
    this.#blockOf = new IntMap();
  }

  /** How many leading keys are in the cache. Changes nothing. */
  cachedBlocks(keys: Int32Array, count: number): number {
    let found = 0;
    while (found < count && this.#blockOf.get(keys[found]!) >= 0) found++;
    return found;
  }

  /** The same, and keeps what it found for `allocatePrompt`. */
  find(keys: Int32Array, count: number): number {
    if (this.#found.length < count) this.#found = new Int32Array(count * 2);
    const found = this.#found;
    let n = 0;
    let free = 0;
    for (; n < count; n++) {
      const block = this.#blockOf.get(keys[n]!);
      if (block < 0) break;
      found[n] = block;
      free += this.pool.isFree(block) ? 1 : 0;
    }
    this.#foundFree = free;
    return n;
  }

  /** The same as `cachedBlocks`, as of the last `freeze`. */
  frozenBlocks(keys: Int32Array, count: number): number {
    let found = 0;
    while (found < count && this.#wasCached(keys[found]!)) found++;
    return found;
  }

  /** From now on `frozenBlocks` returns the state at the latest `freeze`; before the first one, an empty cache. */
  trackFreezes(): void {
    this.#sinceFreeze = new IntMap();
    this.#frozenEmpty = true;
  }

  freeze(): void {
    this.#sinceFreeze!.clear();
    this.#frozenEmpty = false;
  }

  /**
   * Room for prompt tokens [start, start + tokens) of a slot whose first `cached` blocks the last `find` found; of the
   * blocks this fills, those below `keyCount` are given their keys. All or nothing: false when there are too few free
   * blocks. With no token to place, cached blocks are not claimed either (a full hit leaves them where they are).
   */
  allocatePrompt(
    slot: number,
    keys: Int32Array,
    keyCount: number,
    start: number,
    tokens: number,
    cached: number,
  ): boolean {
    const needed = this.blocksNeeded(start, tokens);
    const free = this.pool.free;
    if (needed + (cached > 0 ? this.#foundFree : 0) > free) return false;
    if (tokens === 0) return true;
    if (cached > 0) this.#claim(slot, cached);
    const index = Math.ceil(start / this.#blockSize);
    if (index <= keyCount) this.#fillKeyed(slot, keys, keyCount, start, tokens);
    else this.#fill(slot, needed);
    return true;
  }

  /** Blocks that a slot's tokens up to `start + tokens` need beyond those it has. */
  blocksNeeded(start: number, tokens: number): number {
    return Math.ceil((start + tokens) / this.#blockSize) - Math.ceil(start / this.#blockSize);
  }

  /** A new block for the next output token; false when none is free. Call it when the slot's last block is full. */
  appendBlock(slot: number): boolean {
    const { pool } = this;
    if (pool.free === 0) return false;
    if (slot >= this.#top.length) this.#grow(slot);
    const block = pool.takeOne(this.#top[slot]!);
    this.#top[slot] = block;
    this.#filled[slot]!++;
    this.misses++;
    if (pool.key(block) !== NO_BLOCK) this.#forget(block);
    return true;
  }

  /** The slot's last block has just been filled by output tokens and can be found by this key from now on. */
  rememberLast(slot: number, key: number): void {
    this.#remember(this.#top[slot]!, key);
  }

  /** Blocks from..to-1 of the slot, all full, can be found by their keys from now on. It filled them itself. */
  rememberRange(slot: number, keys: Int32Array, from: number, to: number): void {
    let block = this.#top[slot]!;
    const last = this.#claimedCount[slot]! + this.#filled[slot]! - 1;
    for (let index = last; index >= from && block !== NO_BLOCK; index--) {
      if (index < to) this.#remember(block, keys[index]!);
      block = this.pool.below[block]!;
    }
  }

  /** Gives the slot's blocks back, deepest first; their content stays findable until they are taken again. */
  release(slot: number): void {
    this.changes++;
    if (slot >= this.#top.length) return;
    this.pool.releaseChain(this.#top[slot]!, this.#filled[slot]!);
    this.#top[slot] = NO_BLOCK;
    this.#filled[slot] = 0;
    const claimed = this.#claimed[slot];
    for (let i = this.#claimedCount[slot]! - 1; i >= 0; i--) this.pool.release(claimed![i]!);
    this.#claimedCount[slot] = 0;
  }

  /** Blocks that slots own, each counted once. Walks over everything: for checks, not for the hot path. */
  ownedBlocks(): number {
    const owned = new Set<number>();
    this.#claimed.forEach((blocks, slot) => {
      for (const block of blocks.subarray(0, this.#claimedCount[slot])) owned.add(block);
    });
    for (let top of this.#top) {
      for (; top !== NO_BLOCK; top = this.pool.below[top]!) owned.add(top);
    }
    return owned.size;
  }

  #claim(slot: number, cached: number): void {
    if (slot >= this.#top.length) this.#grow(slot);
    let claimed = this.#claimed[slot];
    if (claimed === undefined || claimed.length < cached) {
      claimed = new Int32Array(cached * 2);
      this.#claimed[slot] = claimed;
    }
    for (let i = 0; i < cached; i++) {
      const block = this.#found[i]!;
      this.pool.claim(block);
      claimed[i] = block;
    }
    this.#claimedCount[slot] = cached;
    this.changes++;
    this.hits += cached;
  }

  /** Room for prompt tokens of which some blocks have keys: those that become full can be found from now on. */
  #fillKeyed(slot: number, keys: Int32Array, keyCount: number, start: number, tokens: number): void {
    const size = this.#blockSize;
    const full = Math.min(keyCount, Math.floor((start + tokens) / size));
    const begun = Math.ceil(start / size);
    if (start % size !== 0 && begun <= full) this.#remember(this.#top[slot]!, keys[begun - 1]!);
    let index = begun;
    for (; index < full; index++) {
      this.#fill(slot, 1);
      this.#remember(this.#top[slot]!, keys[index]!);
    }
    this.#fill(slot, Math.ceil((start + tokens) / size) - index);
  }

  /** Takes free blocks for a slot; what they held before is gone. */
  #fill(slot: number, blocks: number): void {
    if (slot >= this.#top.length) this.#grow(slot);
    this.#top[slot] = this.pool.take(blocks, this.#top[slot]!);
    this.#filled[slot]! += blocks;
    this.misses += blocks;
    if (this.pool.lostCount > 0) this.#forgetLost();
  }

  #forgetLost(): void {
    const { lost, lostCount } = this.pool;
    for (let i = 0; i < lostCount; i++) this.#forget(lost[i]!);
  }

  /** Even when a younger block holds the same content by now, the key goes: most of the caches we model do the same. */
  #forget(block: number): void {
    const key = this.pool.key(block);
    this.pool.setKey(block, NO_BLOCK);
    if (!this.#losesCopies && this.#blockOf.get(key) !== block) return;
    if (this.#sinceFreeze !== null) this.#note(key);
    this.changes++;
    this.#blockOf.delete(key);
  }

  #remember(block: number, key: number): void {
    if (this.#sinceFreeze !== null) this.#note(key);
    this.changes++;
    this.pool.setKey(block, key);
    this.#blockOf.set(key, block);
  }

  #note(key: number): void {
    if (this.#sinceFreeze!.get(key) < 0) this.#sinceFreeze!.set(key, this.#blockOf.get(key) >= 0 ? 1 : 0);
  }

  #wasCached(key: number): boolean {
    if (this.#frozenEmpty) return false;
    const before = this.#sinceFreeze!.get(key);
    return before < 0 ? this.#blockOf.get(key) >= 0 : before === 1;
  }

  /** Slots that own nothing are not passed here, so the next one may be far above the last. */
  #grow(slot: number): void {
    const top = new Int32Array(Math.max(slot + 1, this.#top.length * 2)).fill(NO_BLOCK);
    const filled = new Int32Array(top.length);
    const claimedCount = new Int32Array(top.length);
    top.set(this.#top);
    filled.set(this.#filled);
    claimedCount.set(this.#claimedCount);
    this.#top = top;
    this.#filled = filled;
    this.#claimedCount = claimedCount;
  }
}
