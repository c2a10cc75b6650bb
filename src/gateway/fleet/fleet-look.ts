import type { FleetView } from '../../policy/fleet-view.js';
import type { DecidingFleet } from './deciding-fleet.js';
import { removal } from './eligibility.js';
import type { LiveReplica } from './live-replica.js';
import { keepLowestTier } from './request-shares.js';

/** The fleet as admission policies and saturation detectors see it, before a replica is chosen. */
export class FleetLook {
  readonly #fleet: DecidingFleet;
  /** Whether replicas have tiers, of which only the lowest is used. */
  hasTiers = false;
  readonly #removed: (string | null)[] = [];
  readonly #queued: Int32Array;
  readonly #saturation: FleetView;

  constructor(fleet: DecidingFleet) {
    this.#fleet = fleet;
    this.#queued = new Int32Array(fleet.view.queued.length);
    this.#saturation = { ...fleet.view, queued: this.#queued };
  }

  /** For requests of a model (null: of any). */
  at(nowUs: number, replicas: readonly LiveReplica[], model: string | null): FleetView {
    const removed = this.#removed;
    removed.length = replicas.length;
    for (let slot = 0; slot < replicas.length; slot++) removed[slot] = removal(replicas[slot]!, model, nowUs / 1000);
    if (this.hasTiers) keepLowestTier(replicas, removed);
    return this.#fleet.look(nowUs, removed);
  }

  /**
   * As saturation detectors see it. Replicas report once in a while; requests that were sent to one since its last report and
   * have not ended count as queued there, or a burst between two reports would find room that it has itself taken.
   */
  saturationAt(nowUs: number, replicas: readonly LiveReplica[]): FleetView {
    const { ids, queued, size } = this.at(nowUs, replicas, null);
    const view = this.#saturation;
    view.ids = ids;
    view.size = size;
    for (let slot = 0; slot < size; slot++) {
      this.#queued[slot] = Math.max(0, queued[slot]! + replicas[slot]!.sentSinceReport);
    }
    return view;
  }
}
