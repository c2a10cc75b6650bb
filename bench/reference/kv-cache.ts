import type { EngineRules } from '../../src/replica/engine-rules.js';
import { type ChainTable, NO_CHAIN } from './chain-table.js';
import { OrderedIds } from './ordered-ids.js';
import { type ReferenceRequest, workOf } from './request.js';

interface Block {
  readonly id: number;
  owners: number;
  tokens: number[];
  chain: number;
}

/** The KV blocks of one replica: their owners, which contents are cached, which blocks are free. */
export class KvCache {
  hits = 0;
  misses = 0;
  /** Chain to block id. A later block with the same content takes the entry over. */
  readonly byChain = new Map<number, number>();
  readonly #blocks: Block[] = [];
  /** First to be reused first. */
  readonly #free = new OrderedIds();
  readonly #owned = new Map<ReferenceRequest, Block[]>();

  constructor(
    totalBlocks: number,
    readonly blockSize: number,
    readonly chains: ChainTable,
    readonly rules: EngineRules,
  ) {
    for (let id = 0; id < totalBlocks; id++) {
      this.#blocks.push({ id, owners: 0, tokens: [], chain: NO_CHAIN });
      this.#free.addLast(id);
    }
  }

  get freeBlocks(): number {
    return this.#free.size;
  }

  get usedBlocks(): number {
    return this.#blocks.length - this.#free.size;
  }

  /** The blocks that hold the start of the prompt. Looking changes nothing. */
  cachedBlocks(request: ReferenceRequest): number[] {
    const found: number[] = [];
    const work = workOf(request);
    const chains = request.kept === 0 ? request.promptChains : this.chains.ofPrompt(work, this.blockSize);
    const most = this.rules.computesLastBlock ? Math.floor((work.length - 1) / this.blockSize) : chains.length;
    for (const chain of chains.slice(0, Math.max(0, most))) {
      const block = this.byChain.get(chain);
      if (block === undefined) break;
      found.push(block);
    }
    return found;
  }

  /** Makes room for the tokens [start, end) of the request; false, with nothing changed, when there is none. */
  allocate(request: ReferenceRequest, start: number, end: number, cached: readonly number[] = []): boolean {
    const owned = this.#owned.get(request) ?? [];
    const work = workOf(request);
    const inPrefill = request.progress < work.length;
    const tokens = inPrefill ? work.slice(start, end) : this.#responseToken(request, start);
    if (!this.#fits(owned, tokens.length, cached)) return false;
    if (tokens.length === 0) return true;

    this.#owned.set(request, owned);
    if (owned.length === 0) this.#claim(owned, cached);
    let placed = 0;
    while (placed < tokens.length) {
      const last = owned.at(-1);
      if (last !== undefined && last.tokens.length < this.blockSize) {
        const part = tokens.slice(placed, placed + this.blockSize - last.tokens.length);
        last.tokens.push(...part);
        placed += part.length;
        if (last.tokens.length === this.blockSize) this.#register(last, owned.at(-2));
      } else {
        const block = this.#takeFreeBlock();
        block.tokens = tokens.slice(placed, placed + this.blockSize);
        placed += block.tokens.length;
        if (inPrefill && block.tokens.length === this.blockSize) this.#register(block, last);
        owned.push(block);
      }
    }
    return true;
  }

  /** Frees the blocks, the deepest first. Their content stays cached until they are reused. */
  release(request: ReferenceRequest): void {
    for (const block of (this.#owned.get(request) ?? []).toReversed()) {
      block.owners -= 1;
      if (block.owners === 0) this.#free.addLast(block.id);
    }
    this.#owned.delete(request);
  }

  #responseToken(request: ReferenceRequest, position: number): number[] {
    const index = position - request.prompt.length;
    return request.response.slice(index, index + 1);
  }

  #fits(owned: readonly Block[], tokens: number, cached: readonly number[]): boolean {
    const last = owned.at(-1);
    const room = last === undefined ? 0 : this.blockSize - last.tokens.length;
    const fresh = Math.ceil(Math.max(0, tokens - room) / this.blockSize);
    const revived = cached.filter((id) => this.#blocks[id]!.owners === 0).length;
    return fresh + revived <= this.#free.size;
  }

  #claim(owned: Block[], cached: readonly number[]): void {
    for (const id of cached) {
      const block = this.#blocks[id]!;
      if (block.owners === 0) this.#free.remove(id);
      block.owners += 1;
      this.hits += 1;
      owned.push(block);
    }
  }

  /** A reused block's old entry goes; by some rules even when another block holds that content by now. */
  #takeFreeBlock(): Block {
    const block = this.#blocks[this.#free.takeFirst()]!;
    const isFound = this.byChain.get(block.chain) === block.id;
    if (block.chain !== NO_CHAIN && (isFound || this.rules.losesCopies)) this.byChain.delete(block.chain);
    block.chain = NO_CHAIN;
    block.owners = 1;
    this.misses += 1;
    return block;
  }

  #register(block: Block, previous: Block | undefined): void {
    block.chain = this.chains.extend(previous?.chain ?? NO_CHAIN, block.tokens);
    this.byChain.set(block.chain, block.id);
  }
}
