import type { FleetView } from '../../policy/fleet-view.js';
import type { DecidingFleet } from './deciding-fleet.js';
import { removal } from './eligibility.js';
import type { LiveReplica } from './live-replica.js';
import { keepLowestTier } from './request-shares.js';

/** The fleet as it is looked at before a replica is chosen: by admission policies and by saturation detectors. */
export class FleetLook {
  readonly #fleet: DecidingFleet;
  /** Whether replicas have tiers of which only the lowest is asked. */
  hasTiers = false;
  readonly #queued: Int32Array;
  readonly #saturation: FleetView;

  constructor(fleet: DecidingFleet) {
    this.#fleet = fleet;
    this.#queued = new Int32Array(fleet.view.queued.length);
    this.#saturation = { ...fleet.view, queued: this.#queued };
  }

  /** As policies see it, for requests of a model (null: of any): what replicas have said, with its age. */
  at(nowUs: number, replicas: readonly LiveReplica[], model: string | null): FleetView {
    const { signals, view } = this.#fleet;
    for (let slot = 0; slot < replicas.length; slot++) {
      view.eligible[slot] = removal(replicas[slot]!, model, nowUs / 1000) === null ? 1 : 0;
    }
    if (this.hasTiers) keepLowestTier(replicas, view.eligible);
    signals.fill(view, nowUs);
    return view;
  }

  /**
   * As saturation detectors see it. Replicas tell how they are once in a while; what was sent to one since then and has not
   * ended counts as queued there, or a burst between two reports would find room that it has taken itself.
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
