import { replicasOf } from './decision-numbers.js';
import type { DecisionRecord } from './decision-ring.js';
import { PastDecision } from './past-decision.js';
import type { ShadowDecision } from './shadow-decision.js';

/** A decision in the ring: overwritten by a later one. */
export interface DecisionEntry {
  id: string;
  endpoint: string;
  session: string;
  policy: string;
  policyHash: string;
  atUs: number;
  inputTokens: number;
  blockCount: number;
  attempt: number;
  blockSize: number;
  ids: readonly string[];
  chosen: number;
  rule: string;
  tied: number;
  removed: ReadonlyMap<number, string> | null;
  terms: readonly string[];
  numbers: Float64Array;
  /** The first `shadowCount`. */
  shadows: ShadowDecision[];
  shadowCount: number;
  past: PastDecision;
}

const NO_TERMS: readonly string[] = [];

export function emptyDecision(): DecisionEntry {
  return {
    id: '',
    endpoint: '',
    session: '',
    policy: '',
    policyHash: '',
    atUs: 0,
    inputTokens: 0,
    blockCount: 0,
    attempt: 0,
    blockSize: 0,
    ids: NO_TERMS,
    chosen: -1,
    rule: '',
    tied: 0,
    removed: null,
    terms: NO_TERMS,
    numbers: new Float64Array(0),
    shadows: [],
    shadowCount: 0,
    past: new PastDecision(),
  };
}

/** @param slots of the replicas to describe; all of them by default */
export function recordOf(
  entry: DecisionEntry,
  slots: readonly number[] = Array.from(entry.ids.keys()),
): DecisionRecord {
  const { chosen, ids, numbers, past: _, removed, shadowCount, shadows, terms, ...facts } = entry;
  return {
    ...facts,
    shadows: shadows.slice(0, shadowCount).map((shadow) => ({ ...shadow })),
    replica: chosen < 0 ? null : ids[chosen]!,
    replicas: replicasOf(ids, numbers, removed, terms, slots),
  };
}
