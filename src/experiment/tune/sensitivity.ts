import type { Metric } from '../metrics.js';
import type { Evaluations } from './evaluations.js';
import { type Gain, gainOf } from './gain.js';
import { type Knob, type KnobGroup, knobsOf } from './knobs.js';
import type { WorkloadPart } from './parts.js';
import { policySetName } from './policy-set.js';
import { rounded, type TuneCandidate } from './sample.js';

/** What happens to the objective when one knob of the chosen set is moved and the others stay. */
export interface Sensitivity {
  knob: string;
  value: number | string;
  moves: { to: number | string; gain: Gain }[];
  /** Whether any of the moves makes a difference that is not noise. */
  matters: boolean;
}

/** Of the chosen set's knobs, as many as the runs allow, each moved to its default, half and double its value. */
export async function sensitivityOf(
  chosen: TuneCandidate,
  groups: readonly KnobGroup[],
  metric: Metric,
  parts: readonly WorkloadPart[],
  evaluations: Evaluations,
  budget: number,
): Promise<Sensitivity[]> {
  const moved = knobsOf(chosen.policies, groups)
    .map((knob) => ({ knob, moves: movesOf(knob, chosen) }))
    .filter(({ moves }) => moves.length > 0);
  const affordable: typeof moved = [];
  let runs = 0;
  for (const one of moved) {
    runs += one.moves.length * parts.length;
    if (runs > budget) break;
    affordable.push(one);
  }
  await evaluations.measure(
    affordable.flatMap(({ moves }) => moves.map(({ candidate }) => candidate)),
    parts,
  );
  const values = (candidate: TuneCandidate) =>
    parts.map((part) => evaluations.summary(candidate, part).metrics[metric.key] ?? 0);
  return affordable.map(({ knob, moves }) => {
    const gains = moves.map(({ to, candidate }) => ({ to, gain: gainOf(metric, values(candidate), values(chosen)) }));
    const matters = gains.some(({ gain: { verdict } }) => verdict === 'better' || verdict === 'worse');
    return { knob: knob.name, value: knob.value, moves: gains, matters };
  });
}

function movesOf(knob: Knob, chosen: TuneCandidate): { to: number | string; candidate: TuneCandidate }[] {
  const now = Number(knob.value);
  const targets =
    knob.choices !== null
      ? knob.choices
      : // A weight of 0 is no part of the set.
        now === 0
        ? []
        : [knob.standard, rounded(knob, now / 2), rounded(knob, now * 2)];
  const seen = new Set([chosen.name]);
  return targets.flatMap((to) => {
    const policies = knob.with(to);
    const name = policySetName(policies);
    if (seen.has(name)) return [];
    seen.add(name);
    return [{ to, candidate: { name, origin: 'refined' as const, policies } }];
  });
}
