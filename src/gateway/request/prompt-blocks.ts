import { ScannedPrompt } from '../../protocol/body/scanned-prompt.js';
import { ApiError } from '../../protocol/errors.js';
import { PromptBytes, TOKEN_BYTES, tokensOfBytes } from '../../protocol/prompt-bytes.js';
import type { RequestFacts } from './request-facts.js';

/** Bodies longer than this are read in slices: everything else is served between two of them. */
export const SLICED_BYTES = 512 * 1024;

/** Slices of a prompt are read for so long in one turn of the event loop, and at least one of them. */
const TURN_MS = 1;

/** A prompt that was read in slices. */
export interface LongPrompt {
  readonly blockSize: number;
  readonly tokens: number;
  readonly chain: BlockChain;
}

/**
 * Reads a prompt into a chain of blocks and returns its tokens; pauses in a long one. The buffer holds a part of the
 * prompt at a time. A malformed prompt is the replica's to refuse: to the policy it is empty.
 */
export function* readPrompt(
  facts: RequestFacts,
  blockSize: number,
  prompt: PromptBytes,
  chain: BlockChain,
): Generator<void, number> {
  // Equal prompts for different models, adapters or salts share no blocks; an adapter is a model by another name.
  const seed = `${facts.model}\u0000${facts.cacheSalt}`;
  const blockBytes = blockSize * TOKEN_BYTES;
  let taken = 0;
  prompt.clear();
  chain.start(seed);
  try {
    const pauses = new ScannedPrompt(facts.body, prompt).write(facts.kind);
    while (!pauses.next().done) {
      const added = chain.addBlocks(prompt.words, prompt.length, blockBytes);
      prompt.drop(added);
      taken += added;
      yield;
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    prompt.clear();
    chain.start(seed);
    return 0;
  }
  chain.addBlocks(prompt.words, prompt.length, blockBytes);
  return tokensOfBytes(taken + prompt.length);
}

/** Measures a long prompt in slices, with everything else in between, and keeps it in the facts. */
export function measureInSlices(facts: RequestFacts, blockSize: number, done: (error: unknown) => void): void {
  const chain = new BlockChain();
  const reading = readPrompt(facts, blockSize, new PromptBytes(), chain);
  const step = (): void => {
    try {
      const end = performance.now() + TURN_MS;
      let slice = reading.next();
      while (!slice.done && performance.now() < end) slice = reading.next();
      if (!slice.done) {
        setImmediate(step);
        return;
      }
      facts.measured = { blockSize, tokens: slice.value, chain };
    } catch (error) {
      done(error);
      return;
    }
    done(null);
  };
  step();
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

  /**
   * Adds every full block of bytes[0, length). Returns how many bytes that was.
   * @param blockBytes a whole number of tokens, of four bytes each
   */
  addBlocks(bytes: DataView, length: number, blockBytes: number): number {
    const blocks = Math.floor(length / blockBytes);
    if (this.count + blocks > this.ids.length) this.#grow((this.count + blocks) * 2);
    const { ids, words } = this;
    let { count } = this;
    let a = this.#a;
    let b = this.#b;
    const end = blocks * blockBytes;
    for (let from = 0; from < end; from += blockBytes) {
      for (let at = from; at < from + blockBytes; at += 4) {
        const word = bytes.getInt32(at, true);
        a = Math.imul(a ^ word, 0x01000193) ^ (b >>> 15);
        b = Math.imul(b + word, 0xc2b2ae35 | 0) ^ (a >>> 13);
      }
      ids[count] = (a ^ (b << 7)) >>> 1;
      words[2 * count] = a;
      words[2 * count + 1] = b;
      count++;
    }
    this.count = count;
    this.#a = a;
    this.#b = b;
    return end;
  }

  #grow(blocks: number): void {
    const { ids, words } = this;
    this.ids = new Int32Array(blocks);
    this.words = new Int32Array(blocks * 2);
    this.ids.set(ids);
    this.words.set(words);
  }

  #mix(word: number): void {
    this.#a = Math.imul(this.#a ^ word, 0x01000193) ^ (this.#b >>> 15);
    this.#b = Math.imul(this.#b + word, 0xc2b2ae35 | 0) ^ (this.#a >>> 13);
  }
}
