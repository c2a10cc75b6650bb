import { ApiError } from '../../protocol/errors.js';
import { PromptBytes } from '../../protocol/prompt-bytes.js';
import { TOKEN_BYTES, tokensOfBytes } from '../../protocol/token-estimate.js';
import { writePrompt } from '../../protocol/write-prompt.js';
import { nestedTooDeeply } from '../errors.js';
import { BlockChain } from './block-chain.js';
import type { RequestFacts } from './request-facts.js';

/** Deeper than any real request, and far from where a recursive walk would exhaust the stack. */
const MOST_LEVELS = 500;

/**
 * A prompt as policies see it: its length in tokens, and the ids of its full blocks. One object serves request after
 * request, and reads a prompt once however often it is measured in a row.
 */
export class MeasuredPrompt {
  tokens = 0;
  readonly #prompt = new PromptBytes();
  readonly #chain = new BlockChain();
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
    const { bytes, length } = this.#write(facts);
    this.tokens = tokensOfBytes(length);
    // Equal prompts for different models, adapters or salts share no blocks; an adapter is a model by another name.
    this.#chain.start(`${facts.model}\u0000${facts.cacheSalt}`);
    this.#chain.addBlocks(bytes, length, blockSize * TOKEN_BYTES);
  }

  /** A malformed prompt is the replica's to refuse: to the policy it is empty. */
  #write({ body, kind }: RequestFacts): PromptBytes {
    const prompt = this.#prompt;
    prompt.clear();
    try {
      writePrompt(kind, body, prompt);
    } catch (error) {
      if (error instanceof RangeError) throw nestedTooDeeply();
      if (!(error instanceof ApiError)) throw error;
      prompt.clear();
    }
    return prompt;
  }
}

/** Whether a JSON value is nested too deeply to be walked by a policy. */
export function isTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value)) if (isTooDeep(inner, levels - 1)) return true;
  return false;
}
