import { NamedColumns } from './named-columns.js';

/**
 * How a pick was made. One object is reused for many picks; arrays may be longer than the fleet. The policy fills in scores, terms,
 * facts and the rule, the host why replicas were not eligible.
 */
export interface Explanation {
  /** Whether the policy filled in `scores`; otherwise the host uses minus the effective load. */
  scored: boolean;
  /** Higher is better; NaN for replicas that were not candidates. */
  scores: Float64Array;
  /** The parts that add up to a score, by name; one value per replica. */
  terms: NamedColumns;
  /** Other values that the policy compared, by name; one per replica. */
  facts: NamedColumns;
  /** Why a replica was not a candidate, by slot. */
  removed: Map<number, string>;
  /** How many candidates were equally good; 0 when they were not compared. */
  tied: number;
  /** The rule that decided, as people read it: "highest weighted score", "its turn". */
  rule: string;
}

export function createExplanation(replicas: number): Explanation {
  return {
    scored: false,
    scores: new Float64Array(replicas),
    terms: new NamedColumns(),
    facts: new NamedColumns(),
    removed: new Map(),
    tied: 0,
    rule: '',
  };
}

export function resetExplanation(why: Explanation): void {
  why.scored = false;
  why.scores.fill(Number.NaN);
  why.terms.clear();
  why.facts.clear();
  if (why.removed.size > 0) why.removed.clear();
  why.tied = 0;
  why.rule = '';
}
