import { ApiError } from '../../protocol/errors.js';
import { PromptBytes, TOKEN_BYTES, tokensOfBytes } from '../../protocol/prompt-bytes.js';
import { writePrompt } from '../../protocol/write-prompt.js';
import { nestedTooDeeply } from '../errors.js';
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

/**
 * Identifies the blocks of a prompt by their content and all content before them: 31 bits of a chained 64-bit hash. Two
 * prompts with the same leading blocks have the same leading ids; the chain starts from a seed, so that equal texts for
 * different models or adapters have nothing in common.
 */
export class BlockChain {
  ids = new Int32Array(256);
  /** The full hash of each id, two words each: for uses where 31 bits are too few. */
  words = new Int32Array(512);
  count = 0;
  #a = 0;
  #b = 0;

  start(seed: string): void {
    this.count = 0;
    this.#a = 0x9e3779b9 | 0;
    this.#b = 0x85ebca6b | 0;
    for (let i = 0; i < seed.length; i++) this.#mix(seed.charCodeAt(i));
  }

  /** Adds every full block of bytes[0, length). */
  addBlocks(bytes: Buffer, length: number, blockBytes: number): void {
    const blocks = Math.floor(length / blockBytes);
    if (blocks > this.ids.length) {
      this.ids = new Int32Array(blocks * 2);
      this.words = new Int32Array(blocks * 4);
    }
    for (let block = 0; block < blocks; block++) {
      this.#mixBytes(bytes, block * blockBytes, (block + 1) * blockBytes);
      this.ids[block] = (this.#a ^ (this.#b << 7)) >>> 1;
      this.words[2 * block] = this.#a;
      this.words[2 * block + 1] = this.#b;
    }
    this.count = blocks;
  }

  #mixBytes(bytes: Buffer, begin: number, end: number): void {
    let a = this.#a;
    let b = this.#b;
    let p = begin;
    for (; p + 4 <= end; p += 4) {
      const word = bytes[p]! | (bytes[p + 1]! << 8) | (bytes[p + 2]! << 16) | (bytes[p + 3]! << 24);
      a = Math.imul(a ^ word, 0x01000193) ^ (b >>> 15);
      b = Math.imul(b + word, 0xc2b2ae35 | 0) ^ (a >>> 13);
    }
    for (; p < end; p++) {
      a = Math.imul(a ^ bytes[p]!, 0x01000193) ^ (b >>> 15);
      b = Math.imul(b + bytes[p]!, 0xc2b2ae35 | 0) ^ (a >>> 13);
    }
    this.#a = a;
    this.#b = b;
  }

  #mix(word: number): void {
    this.#a = Math.imul(this.#a ^ word, 0x01000193) ^ (this.#b >>> 15);
    this.#b = Math.imul(this.#b + word, 0xc2b2ae35 | 0) ^ (this.#a >>> 13);
  }
}

/** Whether a JSON value is nested too deeply to be walked by a policy. */
export function isTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value)) if (isTooDeep(inner, levels - 1)) return true;
  return false;
}
