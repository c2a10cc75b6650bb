import { grownArray, roomFor } from '../../../kernel/grown-array.js';
import type { FleetView } from '../../fleet-view.js';
import {
  CORRECTION,
  type LatencyPredictor,
  type PredictedLoad,
  type PredictorSource,
} from '../../latency-predictor.js';
import { rearrange } from '../../rearrange.js';
import { hitTokens, type RequestFeatures } from '../../request-features.js';
import { ResidualCorrection } from './residual-correction.js';
import { LOAD_NUMBERS, newLoad, readLoad, saveLoad } from './saved-load.js';

/** Prompts on replicas that were not placed here, by slot: how many, their tokens to compute, and how long the first has been computed. */
export interface OtherPrompts {
  readonly prefilling: Float64Array;
  readonly pendingTokens: Float64Array;
  readonly elapsedUs: Float64Array;
}

const GONE = -1;
/** The weight of the latest request in means over requests. */
const SHARE = 1 / 32;

/**
 * Predicts the times of requests on each replica, and learns from what they took. Owned by the host, which calls it where its books
 * change: the same calls give the same predictions in every world. Costs nothing as long as no replica has a predictor.
 */
export class HostedPrediction {
  /** Set by a world that places only a part of the requests; the counts in the view are of all. */
  otherPrompts: OtherPrompts | null = null;
  readonly #source: PredictorSource;
  readonly #view: FleetView;
  readonly #features: RequestFeatures;
  readonly #predictors: (LatencyPredictor | null)[] = [];
  #known = 0;
  readonly #load: PredictedLoad;
  readonly #ttft: ResidualCorrection;
  readonly #itl: ResidualCorrection;

  // By replica.
  /** Requests without a first token, and the tokens of their prompts that have to be computed. */
  readonly #prefilling: Int32Array;
  readonly #pendingTokens: Float64Array;
  /** Since when the replica works on the first prompt of those that are pending. */
  readonly #busySinceUs: Float64Array;
  /** Mean time from first token to end. */
  readonly #decodeUs: Float64Array;
  /** Mean requests on the replica that this router did not send. */
  readonly #others: Float64Array;

  // By request.
  #replicaOf = new Int32Array(0);
  #placedUs = new Float64Array(0);
  #uncached = new Int32Array(0);
  #hasToken = new Uint8Array(0);
  /** As predicted until it is there. */
  #firstUs = new Float64Array(0);
  /** As predicted without correction, and with it; NaN where nothing was predicted. */
  #plainTtftUs = new Float64Array(0);
  #plainItlUs = new Float64Array(0);
  #ttftUs = new Float64Array(0);
  #itlUs = new Float64Array(0);

  constructor(view: FleetView, features: RequestFeatures, source: PredictorSource) {
    const most = view.inFlight.length;
    this.#view = view;
    this.#features = features;
    this.#source = source;
    this.#load = newLoad();
    this.#ttft = new ResidualCorrection(most);
    this.#itl = new ResidualCorrection(most);
    this.#prefilling = new Int32Array(most);
    this.#pendingTokens = new Float64Array(most);
    this.#busySinceUs = new Float64Array(most);
    this.#decodeUs = new Float64Array(most);
    this.#others = new Float64Array(most);
  }

  /** Whether the speed of any replica is known. */
  get isUsed(): boolean {
    return this.#known > 0;
  }

  /** Predicted TTFT and ITL of a request in flight, as of when it was placed; NaN where nothing was predicted. */
  ttftUsOf(request: number): number {
    return this.#ttftUs[request] ?? Number.NaN;
  }

  itlUsOf(request: number): number {
    return this.#itlUs[request] ?? Number.NaN;
  }

  /** The same by the profile alone, without what was learned from earlier requests: it shows how good the profile is. */
  plainTtftUsOf(request: number): number {
    return this.#plainTtftUs[request] ?? Number.NaN;
  }

  plainItlUsOf(request: number): number {
    return this.#plainItlUs[request] ?? Number.NaN;
  }

  /** Fills in the predictions of the present request for every replica; its `routedBlocks` are there. */
  predict(): void {
    for (let slot = 0; slot < this.#view.size; slot++) this.#predictOn(slot);
  }

  /**
   * Copies what predictions of the present request depend on, so that they can be made when the books have moved on. Returns the
   * index after it.
   */
  saveLoads(to: Float64Array, from: number): number {
    let at = from;
    for (let slot = 0; slot < this.#view.size; slot++, at += LOAD_NUMBERS) {
      this.#describe(slot);
      saveLoad(this.#load, to, at);
    }
    return at;
  }

  /** Fills in the prediction of a copied request for one replica, which has not moved since; corrected as of now. */
  predictSaved(slot: number, request: RequestFeatures, saved: Float64Array, from: number): void {
    readLoad(saved, from + slot * LOAD_NUMBERS, this.#load);
    this.#fill(slot, request);
  }

  /**
   * The present request goes to this replica; before the books change. The first token of a response that is not streamed is not
   * seen: such a request counts as one that decodes from the start.
   */
  placed(request: number, replica: number, isStreamed: boolean): void {
    if (this.#known === 0) {
      // The number may be that of an earlier request.
      if (request < this.#plainTtftUs.length) this.#plainTtftUs[request] = Number.NaN;
      return;
    }
    this.finished(request, Number.NaN, 0);
    this.#reserve(request);
    const { inputTokens, nowUs, predictions } = this.#features;
    this.#predictOn(replica);
    const predictor = this.#predictors[replica]!;
    this.#replicaOf[request] = replica;
    this.#placedUs[request] = nowUs;
    this.#hasToken[request] = isStreamed ? 0 : 1;
    this.#firstUs[request] = nowUs + predictions.ttftUs[replica]!;
    this.#uncached[request] = inputTokens - hitTokens(this.#features, replica);
    const isLearnt = predictor !== null && predictor.isExact !== true;
    this.#plainTtftUs[request] = isLearnt ? predictor.ttftUs : Number.NaN;
    this.#plainItlUs[request] = isLearnt ? predictor.itlUs : Number.NaN;
    this.#ttftUs[request] = predictions.ttftUs[replica]!;
    this.#itlUs[request] = predictions.itlUs[replica]!;
    this.#countOthers();
    if (!isStreamed) return;
    if (this.#prefilling[replica]!++ === 0) this.#busySinceUs[replica] = nowUs;
    this.#pendingTokens[replica]! += this.#uncached[request]!;
  }

  /** The first token of a request in flight came at this time; NaN when unknown. */
  firstToken(request: number, atUs: number): void {
    const replica = this.#of(request);
    if (replica === GONE || this.#hasToken[request] === 1) return;
    this.#hasToken[request] = 1;
    this.#firstUs[request] = atUs;
    this.#ranOne(request, replica, atUs);
    this.#ttft.learn(replica, this.#plainTtftUs[request]!, atUs - this.#placedUs[request]!);
  }

  /** A request has ended, in any way, at this time; NaN when unknown. @param outputTokens 0 when unknown */
  finished(request: number, atUs: number, outputTokens: number): void {
    const replica = this.#of(request);
    if (replica === GONE) return;
    this.#replicaOf[request] = GONE;
    if (this.#hasToken[request] === 0) {
      this.#ranOne(request, replica, atUs);
      return;
    }
    const decodeUs = atUs - this.#firstUs[request]!;
    if (!(decodeUs >= 0)) return;
    const mean = this.#decodeUs[replica]!;
    this.#decodeUs[replica] = mean === 0 ? decodeUs : mean + SHARE * (decodeUs - mean);
    if (outputTokens > 1) this.#itl.learn(replica, this.#plainItlUs[request]!, decodeUs / (outputTokens - 1));
  }

  /** The fleet has changed, as in `RouterLedger.rearrange`; after the view has. */
  rearrange(from: Int32Array): void {
    for (const column of [this.#prefilling, this.#pendingTokens, this.#busySinceUs, this.#decodeUs, this.#others])
      rearrange(column, from);
    this.#ttft.rearrange(from);
    this.#itl.rearrange(from);
    for (let request = 0; request < this.#replicaOf.length; request++) {
      if (this.#replicaOf[request] !== GONE) this.#replicaOf[request] = from.indexOf(this.#replicaOf[request]!);
    }
    const before = [...this.#predictors];
    this.#predictors.length = 0;
    for (let slot = 0; slot < from.length; slot++) this.#predictors.push(before[from[slot]!] ?? null);
    this.refresh();
  }

  /** Predictors have changed: what was learnt of replicas with another one is forgotten. */
  refresh(): void {
    const { ids, size } = this.#view;
    this.#known = 0;
    for (let slot = 0; slot < size; slot++) {
      const predictor = this.#source(ids[slot]!);
      if (predictor !== null) this.#known++;
      if (predictor === (this.#predictors[slot] ?? null)) continue;
      this.#predictors[slot] = predictor;
      this.#ttft.forget(slot);
      this.#itl.forget(slot);
    }
  }

  #predictOn(slot: number): void {
    if (this.#predictors[slot] !== null) this.#describe(slot);
    this.#fill(slot, this.#features);
  }

  /** Predicts from the load that was described last. */
  #fill(slot: number, request: RequestFeatures): void {
    const { inputTokens, predictions } = request;
    const predictor = this.#predictors[slot]!;
    if (predictor === null) {
      predictions.ttftUs[slot] = Number.NaN;
      predictions.itlUs[slot] = Number.NaN;
      predictions.promptUs[slot] = Number.NaN;
      predictions.totalUs[slot] = Number.NaN;
      predictions.factor[slot] = 1;
      predictions.correction[slot] = CORRECTION.none;
      return;
    }
    predictor.predict(inputTokens, inputTokens - hitTokens(request, slot), this.#load);
    const ttft = this.#ttft;
    ttft.correct(slot, predictor.ttftUs);
    predictions.ttftUs[slot] = ttft.us;
    predictions.factor[slot] = ttft.us / predictor.ttftUs;
    predictions.correction[slot] = ttft.state;
    this.#itl.correct(slot, predictor.itlUs);
    predictions.itlUs[slot] = this.#itl.us;
    predictions.promptUs[slot] = predictor.promptUs;
    predictions.totalUs[slot] = predictor.totalUs ?? Number.NaN;
  }

  /** The router's own books are fresh; of other routers' requests it knows how many there are on average. */
  #describe(slot: number): void {
    const load = this.#load;
    const view = this.#view;
    const rest = this.otherPrompts;
    const inFlight = view.inFlight[slot]!;
    const placed = this.#prefilling[slot]!;
    const prefilling = rest === null ? placed : placed + rest.prefilling[slot]!;
    const decoding = Math.max(0, inFlight - prefilling);
    const others = this.#others[slot]!;
    const tokens = view.ongoingTokens[slot]!;
    const meanTokens = inFlight === 0 ? this.#features.inputTokens : tokens / inFlight;
    load.decoding = decoding + others;
    load.decodeTokens = (decoding + others) * meanTokens;
    load.prefilling = prefilling;
    load.pendingPrefillTokens = this.#pendingTokens[slot]! + (rest === null ? 0 : rest.pendingTokens[slot]!);
    const elapsedUs = placed === 0 ? 0 : Math.max(0, this.#features.nowUs - this.#busySinceUs[slot]!);
    load.prefillElapsedUs = rest === null ? elapsedUs : Math.max(elapsedUs, rest.elapsedUs[slot]!);
    load.kvUsed = view.kvUsed[slot]!;
    load.decodeUs = this.#decodeUs[slot]!;
  }

  /** Reports are old, so single ones say little: on average they show what this router did not send. */
  #countOthers(): void {
    const view = this.#view;
    const others = this.#others;
    for (let slot = 0; slot < view.size; slot++) {
      const more = view.queued[slot]! + view.running[slot]! - view.inFlight[slot]!;
      others[slot] = Math.max(0, others[slot]! + SHARE * (more - others[slot]!));
    }
  }

  /** The replica has one prompt less before it. */
  #ranOne(request: number, replica: number, atUs: number): void {
    this.#prefilling[replica]!--;
    this.#pendingTokens[replica]! -= this.#uncached[request]!;
    if (!Number.isNaN(atUs)) this.#busySinceUs[replica] = atUs;
  }

  #of(request: number): number {
    return request >= 0 && request < this.#replicaOf.length ? this.#replicaOf[request]! : GONE;
  }

  #reserve(request: number): void {
    const length = this.#replicaOf.length;
    if (request < length) return;
    const room = roomFor(request, length);
    this.#replicaOf = grownArray(this.#replicaOf, room).fill(GONE, length);
    this.#placedUs = grownArray(this.#placedUs, room);
    this.#uncached = grownArray(this.#uncached, room);
    this.#hasToken = grownArray(this.#hasToken, room);
    this.#firstUs = grownArray(this.#firstUs, room);
    this.#plainTtftUs = grownArray(this.#plainTtftUs, room);
    this.#plainItlUs = grownArray(this.#plainItlUs, room);
    this.#ttftUs = grownArray(this.#ttftUs, room);
    this.#itlUs = grownArray(this.#itlUs, room);
  }
}
