import type { FlipRecord } from '../../policy/flip/flip-record.js';
import { DECISION_COLUMNS, type DecisionColumn } from '../decisions/decision-numbers.js';
import type { BoundedDecision, DecisionRecord, RecordedReplica } from '../decisions/decision-ring.js';
import type { RequestExplanation } from '../decisions/find-explanation.js';
import type { RefusalRecord } from '../decisions/refusal-ring.js';

/** Most replicas that are kept of a decision. */
export const KEPT_REPLICAS = 8;
const MOST_SHADOWS = 4;
const DIGITS = 6;

type Packed = readonly [id: string, removed: string | null, missing: readonly string[], ...(number | null)[]];

/** An explanation as a store keeps it: replicas as lists of numbers, in a third of the room. */
export interface KeptExplanation {
  readonly decision: (Omit<DecisionRecord, 'id' | 'session' | 'replicas'> & { readonly replicaCount: number }) | null;
  readonly terms: readonly string[];
  readonly replicas: readonly Packed[];
  readonly refused: RefusalRecord | null;
  /** What would have flipped it; absent where that was not searched. */
  readonly flip?: FlipRecord | null;
}

/** Null where nothing is known. The session is left out: clients name it. @param flip undefined where it was not searched */
export function packExplanation(
  decision: BoundedDecision | undefined,
  refused: RefusalRecord | undefined,
  flip: FlipRecord | null | undefined,
): KeptExplanation | null {
  if (decision === undefined && refused === undefined) return null;
  if (decision === undefined) return { decision: null, terms: [], replicas: [], refused: refused! };
  const { id: _, replicas, session: _session, ...facts } = decision;
  const terms = Object.keys(replicas[0]?.terms ?? {});
  return {
    decision: { ...facts, shadows: facts.shadows.slice(0, MOST_SHADOWS) },
    terms,
    replicas: replicas.map((one) => [
      ...([one.id, one.removed, one.missing] as const),
      ...DECISION_COLUMNS.map((name) => short(one[name])),
      ...terms.map((name) => short(one.terms[name] ?? null)),
    ]),
    refused: refused ?? null,
    ...(flip === undefined ? {} : { flip }),
  };
}

const short = (value: number | null) => (value === null ? null : Number(value.toPrecision(DIGITS)));

/** @param id of the request */
export function unpackExplanation(id: string, kept: KeptExplanation): RequestExplanation {
  const { decision, refused, terms } = kept;
  if (decision === null) return { id, refused: refused! };
  const replicas = kept.replicas.map(([name, removed, missing, ...numbers]): RecordedReplica => {
    const columns = DECISION_COLUMNS.map((column, i) => [column, numbers[i] ?? null]);
    return {
      id: name,
      removed,
      ...(Object.fromEntries(columns) as Record<DecisionColumn, number | null>),
      missing,
      terms: Object.fromEntries(terms.map((term, i) => [term, numbers[DECISION_COLUMNS.length + i] ?? null])),
    };
  });
  const { flip } = kept;
  const searched = flip === undefined ? { flip: null, flipNotKept: true } : { flip };
  return { id, session: '', ...decision, replicas, ...searched, ...(refused === null ? {} : { refused }) };
}
