import type { Explanation } from '../../explanation.js';
import type { FleetView } from '../../fleet-view.js';
import { hitTokens, type RequestFeatures } from '../../request-features.js';

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
