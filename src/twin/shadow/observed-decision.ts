import type { ShadowDecision } from '../../gateway/decisions/shadow-decision.js';
import type { ReplicaProfiles } from '../../gateway/prediction/replica-profiles.js';
import { createFleetView, type FleetView } from '../../policy/fleet-view.js';
import { contentKey } from '../../policy/host/content-key.js';
import type { HostedPolicies } from '../../policy/host/hosted-policies.js';
import { LOAD_NUMBERS, newLoad, readLoad } from '../../policy/host/prediction/saved-load.js';
import type { PredictedLoad } from '../../policy/latency-predictor.js';
import { copyScalars, createRequestFeatures, type RequestFeatures } from '../../policy/request-features.js';
import { type CopiedDecision, type DecisionCopies, NOT_COPIED } from './decision-copies.js';

/** Room for replicas is rounded up to a multiple of this. */
const STEP = 16;

/** A copied decision as policies read it. One object shows one copy after the other. */
export class ObservedDecision {
  request = 0;
  /** The slot that was chosen, and how many could have been. */
  chosen = 0;
  candidates = 0;
  /** Whether its first token will be seen. */
  streams = true;
  view: FleetView = createFleetView(0);
  features: RequestFeatures = createRequestFeatures(0);
  /** How fast replicas are, as far as that is known. */
  profiles: ReplicaProfiles | null = null;
  readonly #copies: DecisionCopies;
  readonly #load = newLoad();
  #copied: CopiedDecision | null = null;
  /** By slot: whether `features` has the predictions. */
  #isPredicted = new Uint8Array(0);

  constructor(copies: DecisionCopies) {
    this.#copies = copies;
  }

  /** Shows this copy. */
  open(index: number): void {
    const copied = this.#copies.at(index);
    this.#copied = copied;
    this.request = copied.request;
    this.chosen = copied.chosen;
    this.streams = copied.streams;
    this.profiles = copied.fleet!.profiles;
    this.#reserve(copied.ids.length, copied.scalars.blockCount);
    copyScalars(copied.scalars, this.features);
    this.features.body = null;
    this.#readBlocks(copied);
    this.#readColumns(copied);
    const { predictionsAt } = copied;
    if (predictionsAt !== NOT_COPIED) this.#readPredictions(predictionsAt);
    this.#isPredicted.fill(predictionsAt !== NOT_COPIED ? 1 : 0);
  }

  /** Fills in what a policy needs besides the prompt's blocks. The text is read here, not on the response path. */
  complete({ needsBody, needsContentKey, needsPredictions }: HostedPolicies): void {
    const { features } = this;
    if (needsContentKey) {
      const { blockCount, blocks, session } = features;
      features.contentKey = contentKey(blockCount > 0 ? blocks[0]! : null, session, this.#copied!.id);
    }
    if (needsBody) features.body = this.#copied!.facts?.body.parsed() ?? null;
    if (needsPredictions) for (let slot = 0; slot < this.view.size; slot++) this.predict(slot);
  }

  /** Fills in the predictions for a replica; NaN where its speed is not known or the fleet has changed since. */
  predict(slot: number): void {
    if (this.#isPredicted[slot] === 1) return;
    this.#isPredicted[slot] = 1;
    const { features, view } = this;
    const { fleet, loadsAt } = this.#copied!;
    if (loadsAt !== NOT_COPIED && fleet!.view.ids === view.ids) {
      fleet!.host.prediction.predictSaved(slot, features, this.#copies.numbers, loadsAt);
    } else {
      const { factor, itlUs, ttftUs } = features.predictions;
      ttftUs[slot] = Number.NaN;
      itlUs[slot] = Number.NaN;
      factor[slot] = 1;
    }
  }

  /** Whether the speed of any replica is known. */
  get hasLoads(): boolean {
    return this.#copied!.loadsAt !== NOT_COPIED;
  }

  /** The load of a replica that predictions depend on. One object is reused. */
  load(slot: number): PredictedLoad {
    readLoad(this.#copies.numbers, this.#copied!.loadsAt + slot * LOAD_NUMBERS, this.#load);
    return this.#load;
  }

  /** Where the shadow at this place writes its choice. */
  found(place: number): ShadowDecision {
    const { found, isFound } = this.#copied!;
    isFound[place] = 1;
    return found[place]!;
  }

  #reserve(replicas: number, blockCount: number): void {
    if (this.view.eligible.length < replicas) {
      const room = Math.ceil(replicas / STEP) * STEP;
      const { blocks } = this.features;
      this.view = createFleetView(room);
      this.features = createRequestFeatures(room);
      this.features.blocks = blocks;
      this.#isPredicted = new Uint8Array(room);
    }
    if (this.features.blocks.length < blockCount) this.features.blocks = new Int32Array(blockCount + (blockCount >> 1));
  }

  #readBlocks({ blocksAt, scalars }: CopiedDecision): void {
    const { blocks: from } = this.#copies;
    const { blocks: to } = this.features;
    for (let i = 0; i < scalars.blockCount; i++) to[i] = from[blocksAt + i]!;
  }

  /** In the order in which they were copied. */
  #readColumns({ ids, numbersAt }: CopiedDecision): void {
    const { numbers } = this.#copies;
    const { features, view } = this;
    let at = numbersAt;
    let candidates = 0;
    view.size = ids.length;
    view.ids = ids;
    for (let slot = 0; slot < ids.length; slot++) {
      candidates += numbers[at]!;
      view.eligible[slot] = numbers[at++]!;
      view.queued[slot] = numbers[at++]!;
      view.running[slot] = numbers[at++]!;
      view.kvUsed[slot] = numbers[at++]!;
      view.freeBlocks[slot] = numbers[at++]!;
      view.cacheHitRate[slot] = numbers[at++]!;
      view.reportedAgeUs[slot] = numbers[at++]!;
      view.inFlight[slot] = numbers[at++]!;
      view.ongoingTokens[slot] = numbers[at++]!;
      view.pendingPrefillTokens[slot] = numbers[at++]!;
      view.ongoingDecodeTokens[slot] = numbers[at++]!;
      view.indexedBlocks[slot] = numbers[at++]!;
      features.routedBlocks[slot] = numbers[at++]!;
    }
    this.candidates = candidates;
  }

  #readPredictions(from: number): void {
    const { numbers } = this.#copies;
    const { correction, factor, itlUs, promptUs, ttftUs } = this.features.predictions;
    let at = from;
    for (let slot = 0; slot < this.view.size; slot++) {
      ttftUs[slot] = numbers[at++]!;
      itlUs[slot] = numbers[at++]!;
      promptUs[slot] = numbers[at++]!;
      factor[slot] = numbers[at++]!;
      correction[slot] = numbers[at++]!;
    }
  }
}
