import type { JsonObject } from '../../protocol/json/json-body.js';
import { Sequence, type SequenceOwner } from '../sequence.js';
import type { EngineExchange } from './engine-exchange.js';

/** Prompts that generate no tokens: the response is sent when the last prompt has been processed. */
export class PoolingJob implements SequenceOwner {
  readonly #exchange: EngineExchange;
  readonly #result: (promptTokens: number) => JsonObject;
  readonly #sequences: Sequence[] = [];
  #isDirty = false;
  #isDone = false;
  #breaks = false;

  constructor(exchange: EngineExchange, result: (promptTokens: number) => JsonObject) {
    this.#exchange = exchange;
    this.#result = result;
  }

  add(promptTokens: number, keys: Int32Array): void {
    const tokens = { input: promptTokens, output: 1 };
    this.#sequences.push(new Sequence(this.#exchange.engine, this, tokens, keys, 'stop', false));
  }

  /** @param breaks the connection is to break instead of a response */
  start(breaks: boolean): void {
    this.#breaks = breaks;
    this.#exchange.response.on('close', () => {
      this.#isDone = true;
      for (const sequence of this.#sequences) sequence.abort();
    });
    for (const sequence of this.#sequences) sequence.submit(this.#exchange.arrivedUs);
    if (this.#sequences.length === 0) this.flush();
  }

  changed(): void {
    if (this.#isDirty) return;
    this.#isDirty = true;
    this.#exchange.engine.live.later(this);
  }

  flush(): void {
    this.#isDirty = false;
    if (this.#isDone || !this.#sequences.every(({ isOver }) => isOver)) return;
    this.#isDone = true;
    if (this.#breaks) {
      this.#exchange.response.socket?.resetAndDestroy();
      return;
    }
    const tokens = this.#sequences.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
    this.#exchange.sendJson(200, this.#result(tokens));
  }
}
