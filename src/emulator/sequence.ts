import type { LiveSequence } from './emulated-replica.js';
import type { Engine } from './engine.js';
import type { Ending } from './engine-metrics.js';

/** The owner of a sequence. */
export interface SequenceOwner {
  /** It has more tokens, or has ended. */
  changed(): void;
}

const SECOND_US = 1e6;

/** A prompt and its response in the engine, with their metrics. */
export class Sequence implements LiveSequence {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly keys: Int32Array;
  /** Output tokens generated. */
  tokens = 0;
  cachedTokens = 0;
  isOver = false;
  readonly #engine: Engine;
  readonly #owner: SequenceOwner;
  readonly #ending: Ending;
  readonly #generates: boolean;
  #arrivedUs = 0;
  #queuedUs = 0;
  #firstUs = 0;
  #lastUs = 0;

  /** @param generates whether its output is a response, or only marks that its prompt has been processed */
  constructor(
    engine: Engine,
    owner: SequenceOwner,
    tokens: { input: number; output: number },
    keys: Int32Array,
    ending: Ending,
    generates: boolean,
  ) {
    this.#engine = engine;
    this.#owner = owner;
    this.inputTokens = tokens.input;
    this.outputTokens = tokens.output;
    this.keys = keys;
    this.#ending = ending;
    this.#generates = generates;
  }

  submit(arrivedUs: number): void {
    this.#arrivedUs = this.#engine.live.submit(this, arrivedUs);
    this.#engine.options.arrived(this.#arrivedUs, this.inputTokens, this.outputTokens);
  }

  abort(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#engine.live.abort(this);
    this.#engine.metrics.endings.abort++;
  }

  produced(tokens: number, atUs: number): void {
    const { metrics, live } = this.#engine;
    if (this.tokens === 0) {
      this.cachedTokens = live.cachedTokens(this);
      this.#queuedUs = live.queuedUs(this);
      this.#firstUs = atUs;
      metrics.promptTokensDone += this.inputTokens;
      metrics.ttft.observe((atUs - this.#arrivedUs) / SECOND_US);
    } else {
      metrics.interToken.observe((atUs - this.#lastUs) / SECOND_US);
    }
    if (this.#generates) metrics.tokensOut += tokens - this.tokens;
    this.tokens = tokens;
    this.#lastUs = atUs;
    this.#owner.changed();
  }

  ended(atUs: number): void {
    this.isOver = true;
    const { metrics } = this.#engine;
    const seatedUs = this.#arrivedUs + this.#queuedUs;
    metrics.endings[this.#ending]++;
    metrics.e2e.observe((atUs - this.#arrivedUs) / SECOND_US);
    metrics.queue.observe(this.#queuedUs / SECOND_US);
    metrics.prefill.observe((this.#firstUs - seatedUs) / SECOND_US);
    metrics.decode.observe((this.#lastUs - this.#firstUs) / SECOND_US);
    metrics.inference.observe((this.#lastUs - seatedUs) / SECOND_US);
    metrics.promptTokens.observe(this.inputTokens);
    if (this.#generates) metrics.generationTokens.observe(this.tokens);
    if (this.tokens > 1) {
      metrics.perOutputToken.observe((this.#lastUs - this.#firstUs) / (this.tokens - 1) / SECOND_US);
    }
    this.#owner.changed();
  }
}
