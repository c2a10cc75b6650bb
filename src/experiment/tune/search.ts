import type { RandomStream } from '../../kernel/random-stream.js';
import type { Evaluations } from './evaluations.js';
import type { KnobGroup } from './knobs.js';
import type { WorkloadPart } from './parts.js';
import { refineCandidates, sampleCandidates, type TuneCandidate } from './sample.js';

export interface SearchPlan {
  untuned: readonly TuneCandidate[];
  groups: readonly KnobGroup[];
  parts: readonly WorkloadPart[];
  /** Runs that the search may use. */
  budget: number;
}

/** Sets without tuning that stay to the end: a lucky first run must not hide the one to beat. */
const UNTUNED_KEPT = 4;
const FINALISTS = 3;
const REFINED_FROM = 4;

/**
 * Successive halving: many sets on one part, a third of them on a second, neighbours of the best beside them, and fewer and
 * fewer on the others. The finalists, the best untuned and the given set among them, are measured on all parts.
 */
export async function searchPolicies(
  { untuned, groups, parts, budget }: SearchPlan,
  evaluations: Evaluations,
  random: RandomStream,
): Promise<TuneCandidate[]> {
  const [first, second] = [parts.slice(0, 1), parts.slice(0, 2)];
  const last = parts.length - second.length;
  const atEnd = FINALISTS + UNTUNED_KEPT + 1;
  const flexible = Math.max(0, budget - atEnd * last - 2 * FINALISTS);
  const count = Math.max(untuned.length, Math.floor(flexible / 2));

  const known = new Set(untuned.map(({ name }) => name));
  const sampled = sampleCandidates(untuned, groups, count - untuned.length, known, random);
  for (const { name } of sampled) known.add(name);
  const all = [...untuned, ...sampled];
  await evaluations.measure(all, first);

  let kept = withUntuned(evaluations.ranked(all, first), Math.ceil(all.length / 3));
  await evaluations.measure(kept, second);

  const best = evaluations.ranked(kept, second).slice(0, REFINED_FROM);
  const left = Math.max(0, flexible - all.length - kept.length * (second.length - 1));
  const refined = refineCandidates(best, groups, Math.floor(left / second.length), known, random);
  await evaluations.measure(refined, second);

  const third = parts.slice(0, 3);
  kept = withUntuned(evaluations.ranked([...kept, ...refined], second), 2 * FINALISTS);
  await evaluations.measure(kept, third);
  kept = withUntuned(evaluations.ranked(kept, third), FINALISTS);
  await evaluations.measure(kept, parts);
  return evaluations.ranked(kept, parts);
}

/** The first `count`, and those without tuning that lead among their kind. */
function withUntuned(ranked: readonly TuneCandidate[], count: number): TuneCandidate[] {
  const untuned = ranked.filter(({ origin }) => origin === 'untuned' || origin === 'given').slice(0, UNTUNED_KEPT);
  const given = ranked.filter(({ origin }) => origin === 'given');
  return [...new Set([...ranked.slice(0, count), ...untuned, ...given])];
}
