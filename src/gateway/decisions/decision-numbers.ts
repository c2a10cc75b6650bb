import { type FlipRecord, flipRecord } from '../../policy/flip/flip-record.js';
import type { RecordedReplica } from './decision-ring.js';
import { KEPT_COLUMNS, type PastDecision } from './past-decision.js';
import { KNOWN_KV, KNOWN_QUEUED, KNOWN_RUNNING } from './signal-view.js';

/** Numbers kept of each replica in a decision, in this order; score terms follow. */
export const DECISION_COLUMNS = [...KEPT_COLUMNS, 'routedBlocks', 'ageUs', 'score'] as const;
const COLUMNS = DECISION_COLUMNS;
const SCORE_AT = COLUMNS.length - 1;
export const MOST_TERMS = 8;
/** After the columns: which signals were known and whether the replica was eligible, then the terms. */
const KNOWN_AT = COLUMNS.length;
export const TERMS_AT = KNOWN_AT + 1;
export const WIDTH = TERMS_AT + MOST_TERMS;
/** Beside the bits of known signals. */
export const ELIGIBLE = 8;
export type DecisionColumn = (typeof COLUMNS)[number];

/** The replicas of a decision from its numbers. @param names of the terms */
export function replicasOf(
  ids: readonly string[],
  numbers: Float64Array,
  removed: ReadonlyMap<number, string> | null,
  names: readonly string[],
  slots: readonly number[],
): RecordedReplica[] {
  return slots.map((slot) => {
    const at = slot * WIDTH;
    const columns = COLUMNS.map((name, i): [string, number | null] => [name, finite(numbers[at + i]!)]);
    const terms = names.map((name, i): [string, number | null] => [name, finite(numbers[at + TERMS_AT + i]!)]);
    return {
      id: ids[slot]!,
      removed: removed?.get(slot) ?? null,
      ...(Object.fromEntries(columns) as Record<DecisionColumn, number | null>),
      missing: missing(numbers[at + KNOWN_AT]!),
      terms: Object.fromEntries(terms),
    };
  });
}

/**
 * The slots of the chosen replica and of its nearest rivals: those with the scores closest to its own, then others that could be
 * chosen. In the order of the slots.
 */
export function nearestSlots(numbers: Float64Array, size: number, chosen: number, most: number): number[] {
  if (size <= most) return Array.from({ length: size }, (_, slot) => slot);
  const best = chosen < 0 ? 0 : numbers[chosen * WIDTH + SCORE_AT]!;
  const distance = (slot: number) => {
    if (slot === chosen) return -1;
    const apart = Math.abs(numbers[slot * WIDTH + SCORE_AT]! - best);
    if (Number.isFinite(apart)) return apart;
    return (numbers[slot * WIDTH + KNOWN_AT]! & ELIGIBLE) === 0 ? Number.POSITIVE_INFINITY : Number.MAX_VALUE;
  };
  const nearest: { slot: number; apart: number }[] = [];
  for (let slot = 0; slot < size; slot++) {
    const apart = distance(slot);
    if (nearest.length === most && apart >= nearest[most - 1]!.apart) continue;
    let at = nearest.length;
    while (at > 0 && nearest[at - 1]!.apart > apart) at--;
    nearest.splice(at, 0, { slot, apart });
    if (nearest.length > most) nearest.pop();
  }
  return nearest.map(({ slot }) => slot).sort((a, b) => a - b);
}

/** What would have flipped a decision. */
export function flipOf(
  past: PastDecision,
  ids: readonly string[],
  numbers: Float64Array,
  chosen: number,
): FlipRecord | null {
  const search = past.findFlip(ids, chosen, (name, slot) => {
    if (name === 'eligible') return (numbers[slot * WIDTH + KNOWN_AT]! & ELIGIBLE) === 0 ? 0 : 1;
    return numbers[slot * WIDTH + COLUMNS.indexOf(name)]!;
  });
  return flipRecord(search, ids);
}

function missing(known: number): string[] {
  const signals: [number, string][] = [
    [KNOWN_QUEUED, 'queued'],
    [KNOWN_RUNNING, 'running'],
    [KNOWN_KV, 'kvUsed'],
  ];
  return signals.filter(([bit]) => (known & bit) === 0).map(([, name]) => name);
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
