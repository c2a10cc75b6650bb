import { ApiError } from '../../protocol/errors.js';
import { PromptBytes } from '../../protocol/prompt-bytes.js';
import { TOKEN_BYTES, tokensOfBytes } from '../../protocol/token-estimate.js';
import { writePrompt } from '../../protocol/write-prompt.js';
import { nestedTooDeeply } from '../errors.js';
import { BlockChain } from './block-chain.js';
import type { RequestFacts } from './request-facts.js';

/** A prompt as policies see it: its length in tokens, and the ids of its full blocks. One serves request after request. */
export class PromptBlocks {
  tokens = 0;
  readonly #prompt = new PromptBytes();
  readonly #chain = new BlockChain();

  /** The first `blockCount` are the prompt's; good until the next is read. */
  get blocks(): Int32Array {
    return this.#chain.ids;
  }

  /** The same blocks by 64 bits, two words for each: for those who write them down. */
  get blockWords(): Int32Array {
    return this.#chain.words;
  }

  get blockCount(): number {
    return this.#chain.count;
  }

  read(facts: RequestFacts, blockSize: number): void {
    const { bytes, length } = this.#write(facts);
    this.tokens = tokensOfBytes(length);
    this.#chain.start(chainSeed(facts));
    this.#chain.addBlocks(bytes, length, blockSize * TOKEN_BYTES);
  }

  /** What is malformed is the replica's to judge: to the policy it is a prompt of nothing. */
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

/** Equal prompts for different models, adapters or salts have nothing in common; an adapter is a model by another name. */
function chainSeed({ cacheSalt, model }: RequestFacts): string {
  return `${model}\u0000${cacheSalt}`;
}
