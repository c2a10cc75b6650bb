import type { LatencyPredictor, PredictedLoad } from '../../../policy/latency-predictor.js';
import { emptyShape } from '../batch-shape.js';
import type { BatchShape } from '../contract.js';

/** What a prediction has to know of an engine besides its step times. */
export interface PredictedEngine {
  /** Before a request is in the engine's queue. */
  queueingUs: number;
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
  /** Tokens that its KV cache holds; 0 when unknown. */
  kvTokens: number;
}

/** The time of a step in whole microseconds, a pure function of the batch. */
export type StepTimes = (shape: BatchShape) => number;

/**
 * Predicts a request's times by adding up the steps until its first token: prompts in turn, in chunks that share steps with the
 * requests that decode, after a seat and memory are free. Tokens and times between its methods are whole: fractions would be
 * allocated where the compiler inlines no call.
 */
export class StepPredictor implements LatencyPredictor {
  ttftUs = 0;
  itlUs = 0;
  promptUs = 0;
  readonly #stepUs: StepTimes;
  readonly #engine: PredictedEngine;
  readonly #shape = emptyShape();

  constructor(stepUs: StepTimes, engine: PredictedEngine) {
    this.#stepUs = stepUs;
    this.#engine = engine;
  }

  predict(inputTokens: number, uncachedTokens: number, load: PredictedLoad): void {
    const { maxNumSeqs, queueingUs } = this.#engine;
    const own = Math.max(1, Math.round(uncachedTokens));
    const pending = Math.max(0, Math.round(load.pendingPrefillTokens));
    const decoding = Math.min(Math.round(load.decoding), maxNumSeqs);
    const decodeTokens = load.decoding > 0 ? Math.round((load.decodeTokens * decoding) / load.decoding) : 0;
    const decodeUs = decoding === 0 ? 0 : this.#decodeUs(decoding, decodeTokens);
    const aloneUs = this.#prefillUs(decoding, decodeTokens, own, 1, inputTokens - own);
    // The others would decode meanwhile.
    this.promptUs = Math.max(0, aloneUs - decodeUs);
    const { prefilling } = load;
    let workUs = decodeUs / 2 + aloneUs;
    if (prefilling > 0) {
      // The first prompt is in a step already; those behind it share steps with this one.
      const first = Math.round(pending / prefilling);
      const rest = pending - first;
      workUs = this.#restUs(this.#prefillUs(decoding, decodeTokens, first, 1, 0), load);
      workUs += rest < 1 ? aloneUs : this.#prefillUs(decoding, decodeTokens, rest + own, prefilling, inputTokens - own);
    }
    this.ttftUs = Math.round(queueingUs + workUs + this.#waitUs(load, pending + own));
    const later = Math.min(Math.round(load.decoding) + load.prefilling + 1, maxNumSeqs);
    this.itlUs = this.#decodeUs(later, Math.round(load.decodeTokens) + pending + inputTokens);
  }

  /**
   * What is left of work that should take so long and has taken so long. Work that is late will take longer still, the later it is
   * the more, so that a replica which hangs looks worse and worse.
   */
  #restUs(wholeUs: number, { prefillElapsedUs }: PredictedLoad): number {
    return Math.round(Math.abs(wholeUs - prefillElapsedUs));
  }

  /** Until requests have ended that hold the seats or the memory it needs: they end one after the other at their mean pace. */
  #waitUs({ decodeUs, decoding, kvUsed, prefilling }: PredictedLoad, tokens: number): number {
    const { kvTokens, maxNumSeqs } = this.#engine;
    const seats = Math.max(0, decoding + prefilling + 1 - maxNumSeqs);
    const heldTokens = kvUsed * kvTokens;
    const missing = Math.max(0, tokens - (kvTokens - heldTokens));
    const share = Math.max(seats / maxNumSeqs, missing === 0 || heldTokens === 0 ? 0 : missing / heldTokens);
    return Math.round(share * decodeUs);
  }

  /** Steps with prompts until all these tokens are computed. @param cached tokens before those of the last prompt */
  #prefillUs(decoding: number, decodeTokens: number, tokens: number, prompts: number, cached: number): number {
    const chunk = Math.max(1, this.#engine.maxNumBatchedTokens - decoding);
    const steps = Math.ceil(tokens / chunk);
    const each = Math.ceil(tokens / Math.max(1, prompts));
    const full = steps > 1 ? (steps - 1) * this.#mixedUs(decoding, decodeTokens, chunk, each, cached) : 0;
    return full + this.#mixedUs(decoding, decodeTokens, tokens - (steps - 1) * chunk, each, cached);
  }

  /** @param each tokens of one prompt */
  #mixedUs(decoding: number, decodeTokens: number, tokens: number, each: number, cached: number): number {
    const shape = this.#decodes(decoding, decodeTokens);
    const prefills = Math.max(1, Math.round(tokens / each));
    const context = cached + each / 2;
    shape.scheduled += prefills;
    shape.prefills = prefills;
    shape.prefillTokens = tokens;
    shape.prefillContext = tokens < each ? prefills * (each / 2) : 0;
    shape.prefillFullAttention = tokens * (cached + each);
    shape.prefillCausalAttention = tokens * (each / 2);
    shape.prefillPairs = tokens * context;
    shape.prefillLongest = cached + each;
    return this.#stepUs(shape);
  }

  #decodeUs(decoding: number, decodeTokens: number): number {
    return this.#stepUs(this.#decodes(Math.max(1, decoding), decodeTokens));
  }

  #decodes(decoding: number, decodeTokens: number): BatchShape {
    const shape = this.#shape;
    shape.scheduled = decoding;
    shape.decodes = decoding;
    shape.decodeContext = decodeTokens;
    shape.decodeLongest = decoding === 0 ? 0 : decodeTokens / decoding;
    shape.heldTokens = decodeTokens;
    shape.prefills = 0;
    shape.prefillTokens = 0;
    shape.prefillContext = 0;
    shape.prefillFullAttention = 0;
    shape.prefillCausalAttention = 0;
    shape.prefillPairs = 0;
    shape.prefillLongest = 0;
    return shape;
  }
}
