import type { Signal } from '../fleet-view.js';
import type { TieBreak } from '../routing/parts/best-choice.js';

/**
 * What differs on purpose between the worlds that host policies. Everything else in this folder is the same for all of them;
 * `docs/design.md` lists the differences that lie outside of it (how signals are measured, which replicas are eligible).
 */
export interface World {
  /** The `tie_break` of policies that have this option, unless it is given. */
  tieBreak: TieBreak;
  /** Signals that this world does not have: policies that read them are refused. */
  lacks: readonly Signal[];
  /** Replicas may take requests and give nothing back: the host has a `Suspicion`, which the world feeds and asks. */
  replicasHang: boolean;
}

/** Virtual time. Results must be comparable with other simulators, which take the first of equals. */
export const SIMULATED: World = { tieBreak: 'first', lacks: [], replicasHang: false };

/**
 * Live traffic. On an idle fleet all replicas are equal: the first would get every request, and several gateways would agree on
 * it. `replicaCache` is not refused: no engine reports its cache, so it reads as empty everywhere and scores all replicas alike.
 */
export const LIVE: World = { tieBreak: 'random', lacks: ['truth'], replicasHang: true };

/** A stream of events (`decide`), which has no field for these signals. Recorded decisions take the first of equals. */
export const EVENT_STREAM: World = {
  tieBreak: 'first',
  lacks: ['freeBlocks', 'cacheHitRate', 'replicaCache', 'truth'],
  replicasHang: false,
};
