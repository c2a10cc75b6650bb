import { PromptBytes } from '../../protocol/prompt-bytes.js';
import { BlockChain, readPrompt } from './prompt-blocks.js';
import type { RequestFacts } from './request-facts.js';

/**
 * A prompt as policies see it: its length in tokens, and the ids of its full blocks. One object serves request after
 * request, and reads a prompt once however often it is measured in a row.
 */
export class MeasuredPrompt {
  tokens = 0;
  readonly #prompt = new PromptBytes();
  readonly #own = new BlockChain();
  /** That of the prompt read last: its own, or that of a prompt that was read in slices. */
  #chain = this.#own;
  /** The request that was measured last. */
  #facts: RequestFacts | null = null;
  #blockSize = 0;

  /** The first `blockCount` are the prompt's; valid until the next is read. */
  get blocks(): Int32Array {
    return this.#chain.ids;
  }

  /** The same blocks by 64 bits, two words each: for recordings. */
  get blockWords(): Int32Array {
    return this.#chain.words;
  }

  get blockCount(): number {
    return this.#chain.count;
  }

  /** Reads the prompt, unless it was the last one read, and sets its length in the facts. */
  measure(facts: RequestFacts, blockSize: number): void {
    if (this.#facts === facts && this.#blockSize === blockSize) return;
    this.#facts = null;
    this.read(facts, blockSize);
    facts.inputTokens = this.tokens;
    this.#facts = facts;
    this.#blockSize = blockSize;
  }

  /** Drops the reference to the request; its blocks stay valid until the next is read. */
  release(): void {
    this.#facts = null;
  }

  read(facts: RequestFacts, blockSize: number): void {
    const { measured } = facts;
    // Another block size: the policy was replaced while the request waited.
    if (measured !== null && measured.blockSize === blockSize) {
      this.tokens = measured.tokens;
      this.#chain = measured.chain;
      return;
    }
    this.#chain = this.#own;
    const reading = readPrompt(facts, blockSize, this.#prompt, this.#own);
    let slice = reading.next();
    while (!slice.done) slice = reading.next();
    this.tokens = slice.value;
  }
}
