import { PromptBlocks } from '../request/prompt-blocks.js';
import type { RequestFacts } from '../request/request-facts.js';

/** The prompt of the request at hand, read once however many ask for it one after the other. */
export class MeasuredPrompt extends PromptBlocks {
  #facts: RequestFacts | null = null;
  #blockSize = 0;

  /** Reads the prompt, unless it was the last to be read, and notes its length. */
  measure(facts: RequestFacts, blockSize: number): void {
    if (this.#facts === facts && this.#blockSize === blockSize) return;
    this.#facts = null;
    this.read(facts, blockSize);
    facts.inputTokens = this.tokens;
    this.#facts = facts;
    this.#blockSize = blockSize;
  }

  /** Lets go of the request: its blocks are good until the next is read. */
  release(): void {
    this.#facts = null;
  }
}
