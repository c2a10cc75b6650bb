import type { FleetView } from './fleet-view.js';
import { createPickState, type PickState } from './pick-state.js';
import { hitTokens, type RequestFeatures } from './request-features.js';

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
  /** The rule that decided, for display: "highest weighted score", "its turn". */
  rule: string;
  /** What the pick depended on besides the request and the view. */
  state: PickState;
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
    state: createPickState(replicas),
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
  why.state.hasColumn = false;
}

// What policies explain their picks with.

/** Explains the scores that a choice compared. Replicas that were not candidates get NaN. */
export function explainScores(why: Explanation, view: FleetView, scores: Float64Array): void {
  why.scored = true;
  copyCandidates(view, scores, why.scores);
}

/** Explains one part of the scores. The parts of a replica add up to its score. */
export function explainTerm(why: Explanation, name: string, view: FleetView, parts: Float64Array): void {
  copyCandidates(view, parts, why.terms.column(name, view.size));
}

/** Explains another value that was compared, not part of a sum. */
export function explainFact(why: Explanation, name: string, view: FleetView, values: Int32Array | Float64Array): void {
  copyCandidates(view, values, why.facts.column(name, view.size));
}

/** Explains a value by its opposite. */
export function explainNegated(why: Explanation, name: string, view: FleetView, values: Float64Array): void {
  negateCandidates(view, values, why.facts.column(name, view.size));
}

/** Explains how much of the prompt each replica was sent before. */
export function explainHits(why: Explanation, view: FleetView, request: RequestFeatures): void {
  const hits = why.facts.column('hit tokens', view.size);
  for (let i = 0; i < view.size; i++) hits[i] = view.eligible[i] === 0 ? Number.NaN : hitTokens(request, i);
}

/** Explains the three counts of the effective load, as parts of minus the load. */
export function explainLoad(why: Explanation, view: FleetView): void {
  negateCandidates(view, view.queued, why.terms.column('queued', view.size));
  negateCandidates(view, view.running, why.terms.column('running', view.size));
  negateCandidates(view, view.inFlight, why.terms.column('in flight', view.size));
}

/** Explains the outcome; `rule` applies when a replica was eligible. */
export function explainRule(why: Explanation, chosen: number, tied: number, rule: string): void {
  why.tied = tied;
  why.rule = chosen < 0 ? 'no replica is eligible' : rule;
}

function copyCandidates(view: FleetView, from: Int32Array | Float64Array, to: Float64Array): void {
  for (let i = 0; i < view.size; i++) to[i] = view.eligible[i] === 0 ? Number.NaN : from[i]!;
}

function negateCandidates(view: FleetView, from: Int32Array | Float64Array, to: Float64Array): void {
  for (let i = 0; i < view.size; i++) to[i] = view.eligible[i] === 0 ? Number.NaN : 0 - from[i]!;
}

/**
 * Columns by name, in order of first use. `clear` keeps the arrays: columns are filled and cleared for every request, and a Map that
 * is cleared so often leaves a chain of old tables to the garbage collector.
 */
export class NamedColumns {
  readonly #names: string[] = [];
  readonly #columns: Float64Array[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The column of this name, created if needed; it may be longer than `replicas` and hold old values. */
  column(name: string, replicas: number): Float64Array {
    for (let i = 0; i < this.#size; i++) if (this.#names[i] === name) return this.#columns[i]!;
    const at = this.#size++;
    this.#names[at] = name;
    const kept = this.#columns[at];
    if (kept !== undefined && kept.length >= replicas) return kept;
    const column = new Float64Array(replicas);
    this.#columns[at] = column;
    return column;
  }

  get(name: string): Float64Array | undefined {
    for (let i = 0; i < this.#size; i++) if (this.#names[i] === name) return this.#columns[i];
    return undefined;
  }

  name(index: number): string {
    return this.#names[index]!;
  }

  at(index: number): Float64Array {
    return this.#columns[index]!;
  }

  names(): string[] {
    return this.#names.slice(0, this.#size);
  }

  clear(): void {
    this.#size = 0;
  }
}
