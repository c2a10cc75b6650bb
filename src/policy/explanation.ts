import { NamedColumns } from './named-columns.js';

/**
 * How a pick came about. One object is reused for many picks: `reset` empties it, arrays may be longer than the fleet.
 * The host fills in regret and the view; the policy fills in scores, terms, removals and the rule.
 */
export interface Explanation {
  /** Whether `scores` was filled in by the policy; otherwise hosts score by minus the effective load. */
  scored: boolean;
  /** Higher is better; NaN for replicas that were not candidates. */
  scores: Float64Array;
  /** The parts that add up to a score, by name; one value per replica. */
  terms: NamedColumns;
  /** Whatever else was weighed, by name; one value per replica. */
  facts: NamedColumns;
  /** What removed a replica, by slot. */
  removed: Map<number, string>;
  /** How many candidates were equally good; 0 when they were not compared. */
  tied: number;
  /** The sentence for people: "highest weighted score", "its turn". */
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
