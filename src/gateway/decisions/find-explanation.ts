import type { FlipRecord } from '../../policy/flip/flip-record.js';
import type { DecisionRecord, DecisionRing } from './decision-ring.js';
import type { RefusalRecord, RefusalRing } from './refusal-ring.js';

/** The explanation of a request: its decision, its refusal, or both when no replica could take it. */
export type RequestExplanation =
  | (DecisionRecord & {
      flip: FlipRecord | null;
      refused?: RefusalRecord;
      replicaCount?: number;
      flipNotKept?: boolean;
    })
  | { id: string; refused: RefusalRecord };

/** Of requests with the same id, the last one counts. */
export function findExplanation(
  decisions: Pick<DecisionRing, 'explain'>,
  refusals: Pick<RefusalRing, 'find'>,
  id: string,
): RequestExplanation | undefined {
  const decision = decisions.explain(id);
  const refused = refusals.find(id);
  if (refused === undefined || (decision !== undefined && decision.atUs > refused.atUs)) return decision;
  // An earlier decision was about another request with this id.
  if (decision === undefined || decision.atUs < refused.arrivedUs) return { id, refused };
  return { ...decision, refused };
}
