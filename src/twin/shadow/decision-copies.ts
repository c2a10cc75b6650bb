import type { DecidingFleet, DecisionInput } from '../../gateway/decisions/deciding-fleet.js';
import type { DecisionWatch } from '../../gateway/decisions/decision-observer.js';
import { emptyShadowDecision, type ShadowDecision } from '../../gateway/decisions/shadow-decision.js';
import type { RequestFacts } from '../../gateway/request/request-facts.js';
import { grownArray, roomFor } from '../../kernel/grown-array.js';
import { MOST_SHADOWS } from '../../policy/bundle/shadow-choice.js';
import type { FleetView } from '../../policy/fleet-view.js';
import type { PolicyHost } from '../../policy/host/policy-host.js';
import { LOAD_NUMBERS } from '../../policy/host/prediction/saved-load.js';
import {
  copyScalars,
  createRequestFeatures,
  type RequestFeatures,
  type RequestScalars,
} from '../../policy/request-features.js';

/** No numbers of this kind were copied. */
export const NOT_COPIED = -1;
/** Numbers per replica: columns of the view and of the request, and predictions. */
const COLUMNS = 13;
const PREDICTED = 5;
/** Room for prompt blocks that is kept for the next decisions: prompts of a million tokens are rare. */
const MOST_KEPT_BLOCKS = 65_536;

/** A copied decision besides its numbers and prompt blocks. */
export interface CopiedDecision {
  /** The number in the ring of decisions. */
  decision: number;
  request: number;
  /** The request id. */
  id: string;
  /** The slot that was chosen, and the replicas by slot. */
  chosen: number;
  ids: readonly string[];
  /** Whether its first token will be seen. */
  streams: boolean;
  /** Null where no shadow reads the text. */
  facts: RequestFacts | null;
  fleet: DecidingFleet | null;
  readonly scalars: RequestScalars;
  /** Where its numbers begin, and its blocks. */
  numbersAt: number;
  blocksAt: number;
  /** Where the loads begin that predictions depend on, and the predictions of the policy that serves; NOT_COPIED for none. */
  loadsAt: number;
  predictionsAt: number;
  /** What shadows chose, by the shadow's place, and whether it did. */
  readonly found: ShadowDecision[];
  readonly isFound: Uint8Array;
}

/**
 * Decisions as the policy that served saw them, copied before the request was booked. The numbers of all are in one array and their
 * prompt blocks in another, one decision after the other: copying allocates nothing once there is room, and touches little memory.
 */
export class DecisionCopies {
  size = 0;
  /** Whether a shadow reads the text of requests: only then are they kept until it has decided. */
  keepsFacts = false;
  numbers = new Float64Array(0);
  blocks = new Int32Array(0);
  /** Blocks and numbers in use. */
  blockCount = 0;
  numberCount = 0;
  /** The first `size` are in use. */
  readonly #entries: CopiedDecision[] = [];
  readonly #noted: ShadowDecision[] = [];

  /** Returns the index of the copy. */
  add(
    decision: number,
    request: number,
    chosen: number,
    input: DecisionInput,
    facts: RequestFacts,
    fleet: DecidingFleet,
  ): number {
    const { host, view } = fleet;
    const at = this.size++;
    if (at === this.#entries.length) this.#entries.push(emptyEntry());
    const entry = this.#entries[at]!;
    entry.decision = decision;
    entry.request = request;
    entry.id = input.id;
    entry.chosen = chosen;
    entry.ids = view.ids;
    entry.streams = input.streams;
    entry.facts = this.keepsFacts ? facts : null;
    entry.fleet = fleet;
    entry.isFound.fill(0);
    copyScalars(host.features, entry.scalars);
    this.#addBlocks(entry, host.features);
    this.#reserve(view.size * (COLUMNS + LOAD_NUMBERS + PREDICTED));
    entry.numbersAt = this.numberCount;
    this.#addColumns(view, host.features);
    this.#addPredictions(entry, host);
    return at;
  }

  at(index: number): CopiedDecision {
    return this.#entries[index]!;
  }

  /** Adds what shadows chose to the decisions. */
  note(watch: DecisionWatch): void {
    const noted = this.#noted;
    for (let i = 0; i < this.size; i++) {
      const { decision, found, id, isFound, request } = this.#entries[i]!;
      noted.length = 0;
      for (let place = 0; place < MOST_SHADOWS; place++) if (isFound[place] === 1) noted.push(found[place]!);
      if (noted.length > 0) watch.note(decision, request, id, noted);
    }
  }

  clear(): void {
    for (let i = 0; i < this.size; i++) this.#entries[i]!.facts = null;
    this.size = 0;
    this.blockCount = 0;
    this.numberCount = 0;
    if (this.blocks.length > MOST_KEPT_BLOCKS) this.blocks = new Int32Array(0);
  }

  #reserve(count: number): void {
    const needed = this.numberCount + count;
    if (needed >= this.numbers.length) this.numbers = grownArray(this.numbers, roomFor(needed, this.numbers.length));
  }

  #addBlocks(entry: CopiedDecision, { blockCount, blocks: from }: RequestFeatures): void {
    const needed = this.blockCount + blockCount;
    if (needed >= this.blocks.length) this.blocks = grownArray(this.blocks, roomFor(needed, this.blocks.length));
    const to = this.blocks;
    let at = this.blockCount;
    entry.blocksAt = at;
    for (let i = 0; i < blockCount; i++) to[at++] = from[i]!;
    this.blockCount = at;
  }

  #addColumns(view: FleetView, { routedBlocks }: RequestFeatures): void {
    const { numbers } = this;
    let at = this.numberCount;
    for (let slot = 0; slot < view.size; slot++) {
      numbers[at++] = view.eligible[slot]!;
      numbers[at++] = view.queued[slot]!;
      numbers[at++] = view.running[slot]!;
      numbers[at++] = view.kvUsed[slot]!;
      numbers[at++] = view.freeBlocks[slot]!;
      numbers[at++] = view.cacheHitRate[slot]!;
      numbers[at++] = view.reportedAgeUs[slot]!;
      numbers[at++] = view.inFlight[slot]!;
      numbers[at++] = view.ongoingTokens[slot]!;
      numbers[at++] = view.pendingPrefillTokens[slot]!;
      numbers[at++] = view.ongoingDecodeTokens[slot]!;
      numbers[at++] = view.indexedBlocks[slot]!;
      numbers[at++] = routedBlocks[slot]!;
    }
    this.numberCount = at;
  }

  /** They depend on counts that the booking changes. A policy that reads them has made them; otherwise they are made later. */
  #addPredictions(entry: CopiedDecision, { features, policies, prediction, view }: PolicyHost): void {
    entry.loadsAt = NOT_COPIED;
    entry.predictionsAt = NOT_COPIED;
    if (!prediction.isUsed) return;
    const { numbers } = this;
    entry.loadsAt = this.numberCount;
    let at = prediction.saveLoads(numbers, this.numberCount);
    if (policies.needsPredictions) {
      const { correction, factor, itlUs, promptUs, ttftUs } = features.predictions;
      entry.predictionsAt = at;
      for (let slot = 0; slot < view.size; slot++) {
        numbers[at++] = ttftUs[slot]!;
        numbers[at++] = itlUs[slot]!;
        numbers[at++] = promptUs[slot]!;
        numbers[at++] = factor[slot]!;
        numbers[at++] = correction[slot]!;
      }
    }
    this.numberCount = at;
  }
}

function emptyEntry(): CopiedDecision {
  return {
    decision: 0,
    request: 0,
    id: '',
    chosen: 0,
    ids: [],
    streams: true,
    facts: null,
    fleet: null,
    scalars: createRequestFeatures(0),
    numbersAt: 0,
    blocksAt: 0,
    loadsAt: NOT_COPIED,
    predictionsAt: NOT_COPIED,
    found: Array.from({ length: MOST_SHADOWS }, emptyShadowDecision),
    isFound: new Uint8Array(MOST_SHADOWS),
  };
}
