import type { Evaluations } from './evaluations.js';
import { gainOf } from './gain.js';
import { type KnobGroup, knobsOf } from './knobs.js';
import type { TuneObjective } from './objective.js';
import { breaksConstraints, isRatio } from './objective.js';
import type { WorkloadPart } from './parts.js';
import { policySetName } from './policy-set.js';
import type { TuneCandidate } from './sample.js';

/** A default may cost this share of the objective: a setting that does not show is not worth explaining. */
const SLACK = 0.005;

/** The set with every knob back at its default that makes no difference there: what is left is what the gain comes from. */
export async function simplified(
  chosen: TuneCandidate,
  groups: readonly KnobGroup[],
  { metric }: TuneObjective,
  parts: readonly WorkloadPart[],
  evaluations: Evaluations,
): Promise<TuneCandidate> {
  let current = chosen;
  const values = (candidate: TuneCandidate) =>
    parts.map((part) => evaluations.summary(candidate, part).metrics[metric.key] ?? 0);
  const moved = knobsOf(chosen.policies, groups).filter(({ standard, value }) => value !== standard);
  for (const { name } of moved) {
    const knob = knobsOf(current.policies, groups).find((one) => one.name === name);
    if (knob === undefined) continue;
    const policies = knob.with(knob.standard);
    const plainer: TuneCandidate = { name: policySetName(policies), origin: 'refined', policies };
    await evaluations.measure([plainer], parts);
    const { change } = gainOf(metric, values(plainer), values(current));
    const loss = metric.better === 'less' ? change : -change;
    // Shares and fitness have no ratio: only a default that is as good replaces a value of theirs.
    const isBroken = breaksConstraints(evaluations.score(plainer, parts));
    if (!isBroken && loss <= (isRatio(metric) ? SLACK : 0)) current = plainer;
  }
  return current;
}
