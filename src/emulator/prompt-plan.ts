import { type PromptBytes, TOKEN_BYTES, tokensOfBytes } from '../protocol/prompt-bytes.js';
import { blockKeys, PromptHash } from './prompt-hash.js';

/** A rendered prompt: its length, its hash, and the keys of its blocks including a response. */
export class PromptPlan {
  readonly tokens: number;
  readonly #bytes: PromptBytes;
  readonly #blockSize: number;
  readonly #salt: number;

  /** @param bytes the prompt alone; the response is written after it, and the buffer must not change meanwhile */
  constructor(bytes: PromptBytes, blockSize: number, salt: number) {
    this.#bytes = bytes;
    this.#blockSize = blockSize;
    this.#salt = salt;
    this.tokens = tokensOfBytes(bytes.length);
    this.#fillTo(this.tokens);
  }

  /** The hash of the prompt. */
  hash(): number {
    const hash = new PromptHash(this.#salt);
    hash.add(this.#bytes.view(), 0, this.tokens);
    return hash.value();
  }

  /**
   * Keys of the full blocks of the prompt and of a response of `responseTokens` tokens, without its last token, which is not
   * cached.
   */
  keys(response: string, responseTokens: number): Int32Array {
    this.#bytes.length = this.tokens * TOKEN_BYTES;
    this.#bytes.add(response);
    this.#fillTo(this.tokens + responseTokens);
    const blocks = Math.floor((this.tokens + responseTokens - 1) / this.#blockSize);
    return blockKeys(this.#bytes.view(), blocks, this.#blockSize, this.#salt);
  }

  #fillTo(tokens: number): void {
    const missing = tokens * TOKEN_BYTES - this.#bytes.length;
    if (missing > 0) this.#bytes.add('\0'.repeat(missing));
  }
}
