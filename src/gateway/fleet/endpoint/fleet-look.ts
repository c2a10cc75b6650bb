import type { FleetView } from '../../../policy/fleet-view.js';
import type { DecidingFleet } from '../../decisions/deciding-fleet.js';
import type { FlowHost } from '../../flow/flow-host.js';
import type { MeasuredPrompt } from '../../request/measured-prompt.js';
import type { RequestFacts } from '../../request/request-facts.js';
import type { LiveReplica } from '../replica/live-replica.js';
import { removal } from './eligibility.js';
import { keepLowestTier } from './request-shares.js';

/** The fleet and the request as flow control sees them before a replica is chosen. */
export class FleetLook implements FlowHost {
  /** Set by the endpoint. */
  replicas: readonly LiveReplica[] = [];
  /** Whether replicas have tiers of which only the lowest is used. */
  hasTiers = false;
  readonly nowUs: () => number;
  readonly #fleet: DecidingFleet;
  readonly #prompt: MeasuredPrompt;
  readonly #removed: (string | null)[] = [];
  readonly #queued: Int32Array;
  readonly #saturation: FleetView;

  constructor(fleet: DecidingFleet, prompt: MeasuredPrompt, nowUs: () => number) {
    this.#fleet = fleet;
    this.#prompt = prompt;
    this.nowUs = nowUs;
    this.#queued = new Int32Array(fleet.view.queued.length);
    this.#saturation = { ...fleet.view, queued: this.#queued };
  }

  tokensOf(facts: RequestFacts): number {
    this.#prompt.measure(facts, this.#fleet.blockSize);
    return facts.inputTokens;
  }

  lookFor(model: string | null, nowUs: number): FleetView {
    const { replicas } = this;
    const removed = this.#removed;
    removed.length = replicas.length;
    for (let slot = 0; slot < replicas.length; slot++) removed[slot] = removal(replicas[slot]!, model, nowUs / 1000);
    this.#fleet.suspicion.remove(removed, nowUs, true);
    if (this.hasTiers) keepLowestTier(replicas, removed);
    return this.#fleet.look(nowUs, removed);
  }

  /**
   * Replicas report at intervals; requests sent to one since its last report that have not ended count as queued there.
   * Otherwise a burst between two reports would use the same capacity twice.
   */
  saturationView(nowUs: number): FleetView {
    const { ids, queued, size } = this.lookFor(null, nowUs);
    const view = this.#saturation;
    view.ids = ids;
    view.size = size;
    for (let slot = 0; slot < size; slot++) {
      this.#queued[slot] = Math.max(0, queued[slot]! + this.replicas[slot]!.sentSinceReport);
    }
    return view;
  }
}
