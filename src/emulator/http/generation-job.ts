import type { ServerResponse } from 'node:http';
import type { GenerationRequest } from '../../protocol/generation-request.js';
import { TOKEN_BYTES } from '../../protocol/prompt-bytes.js';
import { SSE_HEADERS } from '../../protocol/sse/sse-writer.js';
import { type UsageBody, usageBody } from '../../protocol/usage.js';
import type { PlannedResponse } from '../response.js';
import type { Sequence, SequenceOwner } from '../sequence.js';
import type { EngineExchange } from './engine-exchange.js';
import type { ResponseFormat } from './response-format.js';

/** One choice of a completion. */
export interface Choice {
  response: PlannedResponse;
  /** The text before the response: the prompt, if it is echoed. */
  before: string;
  sequence: Sequence;
}

/**
 * Writes the choices of a generation as their tokens are generated, or all at once when they are
 * complete.
 */
export class GenerationJob implements SequenceOwner {
  readonly #exchange: EngineExchange;
  readonly #response: ServerResponse;
  readonly #request: GenerationRequest;
  readonly #format: ResponseFormat;
  #choices: readonly Choice[] = [];
  #promptTokens = 0;
  /** Tokens of each choice that have been written. */
  #written: number[] = [];
  #isDirty = false;
  #isDone = false;
  /** Tokens, all choices together, after which the connection breaks. */
  #resetAfter = Number.POSITIVE_INFINITY;

  constructor(exchange: EngineExchange, request: GenerationRequest, format: ResponseFormat) {
    this.#exchange = exchange;
    this.#response = exchange.response;
    this.#request = request;
    this.#format = format;
  }

  /** @param promptTokens of all prompts, each counted once however many choices it has */
  start(choices: readonly Choice[], promptTokens: number, breaks: boolean): void {
    const { engine } = this.#exchange;
    this.#choices = choices;
    this.#promptTokens = promptTokens;
    this.#written = choices.map(() => 0);
    if (breaks) {
      const tokens = choices.reduce((sum, { response }) => sum + response.tokens, 0);
      this.#resetAfter = engine.dice.tokensBeforeReset(tokens);
    }
    this.#response.on('close', () => this.#leave());
    for (const { sequence } of choices) sequence.submit(this.#exchange.arrivedUs);
    if (!this.#request.stream) return;
    // Clients learn at once that their stream has begun, as with vLLM.
    this.#response.writeHead(200, { ...SSE_HEADERS, ...this.#exchange.commonHeaders() });
    this.#response.flushHeaders();
    this.#response.on('drain', () => this.flush());
  }

  changed(): void {
    if (this.#isDirty) return;
    this.#isDirty = true;
    this.#exchange.engine.live.later(this);
  }

  flush(): void {
    this.#isDirty = false;
    if (this.#isDone) return;
    if (this.#tokensOut() >= this.#resetAfter) {
      this.#response.socket?.resetAndDestroy();
      return;
    }
    if (this.#request.stream) this.#writeStream();
    else if (this.#isOver()) this.#writeWhole();
  }

  /** The client has disconnected, or has its response. */
  #leave(): void {
    this.#isDone = true;
    for (const { sequence } of this.#choices) sequence.abort();
  }

  #isOver(): boolean {
    return this.#choices.every(({ sequence }) => sequence.isOver);
  }

  #tokensOut(): number {
    let sum = 0;
    for (const { sequence } of this.#choices) sum += sequence.tokens;
    return sum;
  }

  /**
   * Writes everything generated since the last call in one piece. A client that does not read gets it later.
   */
  #writeStream(): void {
    if (this.#response.writableNeedDrain) return;
    let text = '';
    for (let i = 0; i < this.#choices.length; i++) text += this.#newOf(i);
    if (this.#isOver()) {
      this.#isDone = true;
      this.#response.end(text + this.#format.ending(this.#request.includeUsage ? this.#usage() : null));
    } else if (text !== '') {
      this.#response.write(text);
    }
  }

  #newOf(index: number): string {
    const { response, before, sequence } = this.#choices[index]!;
    const from = this.#written[index]!;
    const to = sequence.tokens;
    if (to === from) return '';
    this.#written[index] = to;
    const usage = this.#request.continuousUsage ? this.#usage() : null;
    const opening = from === 0 ? this.#format.opening(index, usage) : '';
    const finish = to === response.tokens ? response : null;
    const shown = (from === 0 ? before : '') + response.text.slice(from * TOKEN_BYTES, to * TOKEN_BYTES);
    // A token held back because a stop string may have begun has no chunk.
    return shown === '' && finish === null ? opening : opening + this.#format.chunk(index, shown, finish, usage);
  }

  #writeWhole(): void {
    this.#isDone = true;
    const responses = this.#choices.map(({ response, before }) => ({ text: before + response.text, response }));
    this.#exchange.sendJson(200, this.#format.whole(responses, this.#usage()));
  }

  #usage(): UsageBody {
    // Like the prompt itself, its cached tokens count once for all choices.
    let cached = 0;
    for (let i = 0; i < this.#choices.length; i += this.#request.n) cached += this.#choices[i]!.sequence.cachedTokens;
    return usageBody(this.#promptTokens, this.#tokensOut(), cached);
  }
}
