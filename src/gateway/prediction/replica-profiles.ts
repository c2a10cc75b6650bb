import type { LatencyPredictor } from '../../policy/latency-predictor.js';
import { profilePredictor } from '../../replica/latency/predict/engine-predictor.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';

interface ProfiledReplica {
  readonly profile: LatencyProfile;
  readonly predictor: LatencyPredictor;
}

/**
 * The latency profile of each replica of an endpoint, by id: how fast it is, as far as that is known. Replicas of other GPUs, engines
 * or layouts have profiles of their own.
 */
export class ReplicaProfiles {
  /** Called after a change: the policy host looks its predictors up again. */
  onChange: (replica: string, profile: LatencyProfile | null) => void = () => {};
  /** Grows with every change. */
  changes = 0;
  readonly #replicas = new Map<string, ProfiledReplica>();

  /** Null when unknown. */
  profileOf(replica: string): LatencyProfile | null {
    return this.#replicas.get(replica)?.profile ?? null;
  }

  predictorOf(replica: string): LatencyPredictor | null {
    return this.#replicas.get(replica)?.predictor ?? null;
  }

  /** All that are known. */
  all(): [replica: string, profile: LatencyProfile][] {
    return [...this.#replicas].map(([id, { profile }]) => [id, profile]);
  }

  /**
   * @param profile null: unknown again
   * @param predictor with more than the profile says, such as settings of the engine
   */
  set(replica: string, profile: LatencyProfile | null, predictor?: LatencyPredictor): void {
    if (this.profileOf(replica) === profile) return;
    if (profile === null) this.#replicas.delete(replica);
    else this.#replicas.set(replica, { profile, predictor: predictor ?? profilePredictor(profile) });
    this.changes++;
    this.onChange(replica, profile);
  }

  /** Forgets all but these replicas. */
  keep(ids: readonly string[]): void {
    for (const id of this.#replicas.keys()) if (!ids.includes(id)) this.#replicas.delete(id);
  }
}
