import { IntMap } from '../kernel/int-map.js';
import { BlockPool } from './block-pool.js';

const NO_KEY = -1;

/**
 * KV memory of one replica: blocks, who owns them, and which content can be found again (prefix caching).
 * Content is known by block keys (see PromptKeys): a key stands for everything up to the end of its block.
 * Owners are batch slots: small whole numbers that are used again.
 */
export class KvCache {
  readonly pool: BlockPool;
  /** Blocks found in the cache and claimed / blocks newly filled, since the start. */
  hits = 0;
  misses = 0;
  readonly #blockSize: number;
  readonly #keyOf: Int32Array;
  readonly #blockOf: IntMap;
  readonly #tables: Int32Array[] = [];
  readonly #owned: number[] = [];
  /** What changed since the last freeze: key to 1 when it was there then, 0 when not. Null while nobody freezes. */
  #sinceFreeze: IntMap | null = null;
  #frozenEmpty = false;

  constructor(totalBlocks: number, blockSize: number) {
    this.pool = new BlockPool(totalBlocks);
    this.#blockSize = blockSize;
    this.#keyOf = new Int32Array(totalBlocks).fill(NO_KEY);
    this.#blockOf = new IntMap(Math.min(totalBlocks, 65_536));
  }

  /** How many leading keys are in the cache. Changes nothing. */
  cachedBlocks(keys: Int32Array, count: number): number {
    let found = 0;
    while (found < count && this.#blockOf.get(keys[found]!) >= 0) found++;
    return found;
  }

  /** The same as of the last `freeze`. */
  frozenBlocks(keys: Int32Array, count: number): number {
    let found = 0;
    while (found < count && this.#wasCached(keys[found]!)) found++;
    return found;
  }

  /** From now on `frozenBlocks` answers with the state at the latest `freeze`; until the first one, with an empty cache. */
  trackFreezes(): void {
    this.#sinceFreeze = new IntMap();
    this.#frozenEmpty = true;
  }

  freeze(): void {
    this.#sinceFreeze!.clear();
    this.#frozenEmpty = false;
  }

  ownedBlocks(slot: number): number {
    return this.#owned[slot] ?? 0;
  }

  /**
   * Room for prompt tokens [start, start + tokens) of a slot whose first `cached` keys are in the cache.
   * All or nothing: false when there are too few free blocks, and then nothing has changed.
   * With no token to place, cached blocks are not claimed either (a full hit leaves them where they are).
   */
  allocatePrompt(slot: number, keys: Int32Array, keyCount: number, start: number, tokens: number, cached: number): boolean {
    const size = this.#blockSize;
    const owned = this.#owned[slot] ?? 0;
    const top = owned > 0 ? (size - (start % size)) % size : 0;
    const fresh = tokens > top ? Math.ceil((tokens - top) / size) : 0;
    let wanted = fresh;
    for (let i = 0; i < cached; i++) if (this.pool.isFree(this.#blockOf.get(keys[i]!))) wanted++;
    if (wanted > this.pool.free) return false;
    if (tokens === 0) return true;

    const table = this.#tableFor(slot, owned + cached + fresh);
    let length = owned;
    for (let i = 0; i < cached; i++) {
      const block = this.#blockOf.get(keys[i]!);
      this.pool.claim(block);
      table[length++] = block;
    }
    this.hits += cached;
    if (top > 0 && tokens >= top) this.#remember(table[length - 1]!, keys[length - 1]!);
    const end = start + tokens;
    for (let i = 0; i < fresh; i++) {
      const block = this.#takeFresh();
      table[length++] = block;
      if (length * size <= end && length <= keyCount) this.#remember(block, keys[length - 1]!);
    }
    this.#owned[slot] = length;
    return true;
  }

  /** A new block for the next output token; false when none is free. Call it when the slot's last block is full. */
  appendBlock(slot: number): boolean {
    if (this.pool.free === 0) return false;
    const owned = this.#owned[slot] ?? 0;
    this.#tableFor(slot, owned + 1)[owned] = this.#takeFresh();
    this.#owned[slot] = owned + 1;
    return true;
  }

  /** The slot's last block has just been filled by output tokens and can be found by this key from now on. */
  rememberLast(slot: number, key: number): void {
    this.#remember(this.#tables[slot]![this.#owned[slot]! - 1]!, key);
  }

  /** Gives the slot's blocks back, deepest first; their content stays findable until they are taken again. */
  release(slot: number): void {
    const table = this.#tables[slot];
    if (table === undefined) return;
    for (let i = this.#owned[slot]! - 1; i >= 0; i--) this.pool.release(table[i]!);
    this.#owned[slot] = 0;
  }

  #takeFresh(): number {
    const block = this.pool.take();
    const key = this.#keyOf[block]!;
    if (key !== NO_KEY) {
      // Even when a younger block holds the same content by now, the key goes: the caches we model do the same.
      if (this.#sinceFreeze !== null) this.#note(key);
      this.#blockOf.delete(key);
      this.#keyOf[block] = NO_KEY;
    }
    this.misses++;
    return block;
  }

  #remember(block: number, key: number): void {
    if (this.#sinceFreeze !== null) this.#note(key);
    this.#keyOf[block] = key;
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

  #tableFor(slot: number, length: number): Int32Array {
    const table = this.#tables[slot];
    if (table !== undefined && table.length >= length) return table;
    const grown = new Int32Array(Math.max(length, (table?.length ?? 16) * 2));
    if (table !== undefined) grown.set(table);
    this.#tables[slot] = grown;
    this.#owned[slot] ??= 0;
    return grown;
  }
}
