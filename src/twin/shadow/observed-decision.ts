import type { DecidingFleet, DecisionInput } from '../../gateway/decisions/deciding-fleet.js';
import type { ReplicaProfiles } from '../../gateway/prediction/replica-profiles.js';
import type { RequestFacts } from '../../gateway/request/request-facts.js';
import { createFleetView, type FleetView } from '../../policy/fleet-view.js';
import { contentKey } from '../../policy/host/content-key.js';
import { copyScalars, createRequestFeatures, type RequestFeatures } from '../../policy/request-features.js';

/** Room for replicas is rounded up to a multiple of this. */
const STEP = 16;
/** A prompt of a million tokens has more: that much is not kept for the next one. */
const MOST_KEPT_BLOCKS = 16_384;

/**
 * A decision as the policy that served saw it: a copy of the view and of the request, made before the request was booked.
 * One object serves many decisions, and copying allocates nothing once it has room.
 */
export class ObservedDecision {
  /** The number in the ring of decisions, and that of the request. */
  decision = 0;
  request = 0;
  id = '';
  /** The slot that was chosen, and how many could have been. */
  chosen = 0;
  candidates = 0;
  view: FleetView = createFleetView(0);
  features: RequestFeatures = createRequestFeatures(0);
  /** How fast replicas are, as far as that is known. */
  profiles: ReplicaProfiles | null = null;
  #facts: RequestFacts | null = null;

  copy(
    decision: number,
    request: number,
    chosen: number,
    input: DecisionInput,
    facts: RequestFacts,
    fleet: DecidingFleet,
  ): void {
    this.decision = decision;
    this.request = request;
    this.id = input.id;
    this.chosen = chosen;
    this.#facts = facts;
    this.profiles = fleet.profiles;
    // A policy that reads predictions has made them. They depend on counts that the booking changes, so they are made here.
    if (!fleet.host.policies.needsPredictions) fleet.host.prediction.predict();
    this.#copyView(fleet.view);
    this.#copyFeatures(fleet.host.features, fleet.view.size);
  }

  /** Fills in what policies key by, if any of the shadows needs it; the text is read here, not on the response path. */
  complete(needsContentKey: boolean, needsBody: boolean): void {
    const { features } = this;
    if (needsContentKey) {
      const { blockCount, blocks, session } = features;
      features.contentKey = contentKey(blockCount > 0 ? blocks[0]! : null, session, this.id);
    }
    if (needsBody) features.body = this.#facts!.body.parsed();
  }

  /** Drops the references to the request. */
  release(): void {
    this.#facts = null;
    const { features } = this;
    features.body = null;
    if (features.blocks.length > MOST_KEPT_BLOCKS) features.blocks = new Int32Array(0);
  }

  #copyView(from: FleetView): void {
    const { size } = from;
    if (this.view.eligible.length < size) {
      const room = Math.ceil(size / STEP) * STEP;
      this.view = createFleetView(room);
      this.features = createRequestFeatures(room);
    }
    const to = this.view;
    to.size = size;
    to.ids = from.ids;
    let candidates = 0;
    for (let slot = 0; slot < size; slot++) {
      const isEligible = from.eligible[slot]!;
      candidates += isEligible;
      to.eligible[slot] = isEligible;
      to.queued[slot] = from.queued[slot]!;
      to.running[slot] = from.running[slot]!;
      to.kvUsed[slot] = from.kvUsed[slot]!;
      to.freeBlocks[slot] = from.freeBlocks[slot]!;
      to.cacheHitRate[slot] = from.cacheHitRate[slot]!;
      to.reportedAgeUs[slot] = from.reportedAgeUs[slot]!;
      to.inFlight[slot] = from.inFlight[slot]!;
      to.ongoingTokens[slot] = from.ongoingTokens[slot]!;
      to.pendingPrefillTokens[slot] = from.pendingPrefillTokens[slot]!;
      to.ongoingDecodeTokens[slot] = from.ongoingDecodeTokens[slot]!;
      to.indexedBlocks[slot] = from.indexedBlocks[slot]!;
    }
    this.candidates = candidates;
  }

  #copyFeatures(from: RequestFeatures, size: number): void {
    const to = this.features;
    copyScalars(from, to);
    const count = from.blockCount;
    if (to.blocks.length < count) to.blocks = new Int32Array(count + (count >> 1));
    for (let i = 0; i < count; i++) to.blocks[i] = from.blocks[i]!;
    const { correction, factor, itlUs, promptUs, ttftUs } = to.predictions;
    for (let slot = 0; slot < size; slot++) {
      to.routedBlocks[slot] = from.routedBlocks[slot]!;
      ttftUs[slot] = from.predictions.ttftUs[slot]!;
      itlUs[slot] = from.predictions.itlUs[slot]!;
      promptUs[slot] = from.predictions.promptUs[slot]!;
      factor[slot] = from.predictions.factor[slot]!;
      correction[slot] = from.predictions.correction[slot]!;
    }
  }
}
