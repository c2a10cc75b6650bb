import type { FleetView } from '../../policy/fleet-view.js';
import type { ReplicaSignals } from '../signals/replica-signals.js';

/** Bits of `known`. */
export const KNOWN_QUEUED = 1;
export const KNOWN_RUNNING = 2;
export const KNOWN_KV = 4;
const KNOWN_ALL = KNOWN_QUEUED | KNOWN_RUNNING | KNOWN_KV;

/** What replicas reported, and which of it is fresh enough for a decision. */
export class SignalView {
  /** Reports are used for this long. */
  staleMs: number;
  /** By slot, after `fill`: the signals that the replica reported and are not stale. The others were assumed. */
  readonly known: Uint8Array;
  readonly #signals = new Map<string, ReplicaSignals>();

  constructor(mostReplicas: number, staleMs: number) {
    this.known = new Uint8Array(mostReplicas);
    this.staleMs = staleMs;
  }

  set(id: string, signals: ReplicaSignals): void {
    this.#signals.set(id, signals);
  }

  /** Forgets all but these. */
  keep(ids: readonly string[]): void {
    for (const id of this.#signals.keys()) if (!ids.includes(id)) this.#signals.delete(id);
  }

  /** Fills in the reported columns of a view. */
  fill(view: FleetView, nowUs: number): void {
    let known = KNOWN_ALL;
    for (let slot = 0; slot < view.size; slot++) {
      this.#report(view, slot, nowUs);
      known &= this.known[slot]!;
    }
    if (known !== KNOWN_ALL) this.#assume(view);
  }

  /** A replica's last report is used until it is stale. */
  #report(view: FleetView, slot: number, nowUs: number): void {
    const signals = this.#signals.get(view.ids[slot]!);
    const age = signals === undefined ? Number.POSITIVE_INFINITY : nowUs - signals.atUs;
    const isFresh = age <= this.staleMs * 1000;
    let known = 0;
    view.reportedAgeUs[slot] = age;
    if (isFresh && signals!.waiting >= 0) {
      known |= KNOWN_QUEUED;
      view.queued[slot] = signals!.waiting;
    }
    if (isFresh && signals!.running >= 0) {
      known |= KNOWN_RUNNING;
      view.running[slot] = signals!.running;
    }
    if (isFresh && signals!.kvUsed >= 0) {
      known |= KNOWN_KV;
      view.kvUsed[slot] = signals!.kvUsed;
    }
    view.freeBlocks[slot] = isFresh && signals!.freeBlocks >= 0 ? signals!.freeBlocks : 0;
    view.cacheHitRate[slot] = isFresh && signals!.cacheHitRate >= 0 ? signals!.cacheHitRate : 0;
    this.known[slot] = known;
  }

  /**
   * A missing report must not make a replica look idle: it is assumed to be like the others on average, and to run what was sent to
   * it.
   */
  #assume(view: FleetView): void {
    const { known } = this;
    let queued = 0;
    let queues = 0;
    let kvUsed = 0;
    let caches = 0;
    for (let slot = 0; slot < view.size; slot++) {
      if ((known[slot]! & KNOWN_QUEUED) !== 0) {
        queued += view.queued[slot]!;
        queues++;
      }
      if ((known[slot]! & KNOWN_KV) !== 0) {
        kvUsed += view.kvUsed[slot]!;
        caches++;
      }
    }
    for (let slot = 0; slot < view.size; slot++) {
      if ((known[slot]! & KNOWN_QUEUED) === 0) view.queued[slot] = queues === 0 ? 0 : Math.round(queued / queues);
      if ((known[slot]! & KNOWN_RUNNING) === 0) view.running[slot] = view.inFlight[slot]!;
      if ((known[slot]! & KNOWN_KV) === 0) view.kvUsed[slot] = caches === 0 ? 0 : kvUsed / caches;
    }
  }
}
