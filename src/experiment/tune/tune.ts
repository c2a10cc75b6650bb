import { randomStream } from '../../kernel/random-stream.js';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import type { WorkloadRecipe } from '../recipes/workload-recipe.js';
import type { SimulateRuns } from '../run-experiment.js';
import { Evaluations } from './evaluations.js';
import { gainSentences, knobSentences } from './findings.js';
import { type Gain, gainOf } from './gain.js';
import type { KnobGroup } from './knobs.js';
import { breaksConstraints, constraintText, type TuneObjective } from './objective.js';
import { partsOf, type WorkloadPart, type WorkloadParts } from './parts.js';
import { policiesOf, policyFileKeys } from './policy-set.js';
import { type TuneCandidate, untunedCandidates } from './sample.js';
import { searchPolicies } from './search.js';
import { sensitivityOf } from './sensitivity.js';
import { simplified } from './simplify.js';
import type { HeldOutGain, TuneDocument, TunedSet } from './tune-document.js';
import { tuneVerdict, tuneWarnings } from './verdict.js';

export interface TuneInputs {
  /** The fleet with the policies that are in use. */
  config: ClusterConfig;
  workload: WorkloadRecipe;
  /** Requests of the whole workload. */
  requests: number;
  objective: TuneObjective;
  groups: readonly KnobGroup[];
  /** Names of routing policies to try; empty: all. */
  policies: readonly string[];
  /** Runs in all, those that judge included. */
  budget: number;
}

/** Shares of the runs that the search leaves for judging. */
const SENSITIVITY_SHARE = 0.2;
const SENSITIVITY_PARTS = 3;

/** Searches for better policies on one part of the workload and judges what it found on another. */
export async function tune(inputs: TuneInputs, simulate: SimulateRuns): Promise<TuneDocument> {
  const { config, groups, objective, workload } = inputs;
  const parts = partsOf(workload, config.seed, inputs.requests);
  const evaluations = new Evaluations(config, objective, simulate);
  const untuned = untunedCandidates(policiesOf(config), groups, inputs.policies);
  const forSensitivity = Math.floor(inputs.budget * SENSITIVITY_SHARE);
  const budget = inputs.budget - forSensitivity - 3 * parts.heldOut.length;
  const random = randomStream(config.seed, 'tune');
  const finalists = await searchPolicies({ untuned, groups, parts: parts.tuning, budget }, evaluations, random);

  const [bestUntuned] = finalists.filter(({ origin }) => origin === 'untuned' || origin === 'given');
  const given = finalists.find(({ origin }) => origin === 'given')!;
  const beats = (one: TuneCandidate, other: TuneCandidate) =>
    isBetter(one, other, objective, parts.tuning, evaluations);
  // A change has to show: the given policies stay unless another set leads by more than noise, and so do defaults.
  const plain = beats(bestUntuned!, given) ? bestUntuned! : given;
  const leader = beats(finalists[0]!, plain) ? finalists[0]! : plain;
  const few = parts.tuning.slice(0, SENSITIVITY_PARTS);
  const chosen = leader === plain ? plain : await simplified(leader, groups, objective, few, evaluations);
  await evaluations.measure([chosen], parts.tuning);
  const judged = [...new Set([chosen, bestUntuned!, given])];
  await evaluations.measure(judged, parts.heldOut);

  const sensitivity = await sensitivityOf(
    chosen,
    groups,
    objective.metric,
    few,
    evaluations,
    inputs.budget - evaluations.count,
  );
  const gains = judged
    .filter((other) => other !== chosen)
    .map((other) => heldOutGain(chosen, other, objective, parts.heldOut, evaluations));
  const shown = (candidate: TuneCandidate) =>
    tunedSet(candidate, judged.includes(candidate), objective, parts, evaluations);
  const { replica } = config;
  const document = {
    objective: objective.metric,
    saturated: saturationOf(chosen, parts.heldOut, evaluations),
    constraints: objective.constraints.map(constraintText),
    parts: parts.text,
    runs: evaluations.count,
    instances: config.instances,
    gpus: config.instances * replica.tp * (replica.dp ?? 1),
    chosen: { ...shown(chosen), policies: policyFileKeys(chosen.policies) },
    gains,
    sensitivity,
    findings: { gains: gainSentences(objective.metric, gains), knobs: knobSentences(objective.metric, sensitivity) },
    finalists: evaluations.ranked([...new Set([chosen, ...finalists])], parts.tuning).map(shown),
  };
  return { verdict: tuneVerdict(document), warnings: tuneWarnings(document, parts), ...document };
}

/** Whether a set leads another by more than the noise of the parts that both saw, or alone keeps the constraints. */
function isBetter(
  one: TuneCandidate,
  other: TuneCandidate,
  { metric }: TuneObjective,
  parts: readonly WorkloadPart[],
  evaluations: Evaluations,
): boolean {
  if (one === other) return false;
  const [own, others] = [one, other].map((candidate) => evaluations.score(candidate, parts));
  if (breaksConstraints(others!)) return own! < others!;
  const values = (candidate: TuneCandidate) => valuesOf(candidate, metric.key, parts, evaluations);
  const { verdict } = gainOf(metric, values(one), values(other));
  return !breaksConstraints(own!) && (verdict === 'better' || (verdict === 'once' && own! < others!));
}

function valuesOf(
  candidate: TuneCandidate,
  key: TuneObjective['metric']['key'],
  parts: readonly WorkloadPart[],
  evaluations: Evaluations,
): number[] {
  return parts.map((part) => evaluations.summary(candidate, part).metrics[key] ?? 0);
}

function saturationOf(
  chosen: TuneCandidate,
  parts: readonly WorkloadPart[],
  evaluations: Evaluations,
): TuneDocument['saturated'] {
  const found = parts.map((part) => evaluations.summary(chosen, part).saturation);
  const saturated = found.filter(({ state }) => state === 'saturated');
  return { parts: saturated.length, of: found.length, verdict: saturated[0]?.verdict ?? null };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function heldOutGain(
  chosen: TuneCandidate,
  other: TuneCandidate,
  { metric }: TuneObjective,
  parts: readonly WorkloadPart[],
  evaluations: Evaluations,
): HeldOutGain {
  const own = valuesOf(chosen, metric.key, parts, evaluations);
  const others = valuesOf(other, metric.key, parts, evaluations);
  const gain: Gain = gainOf(metric, own, others);
  const role = other.origin === 'given' ? 'given' : 'untuned';
  return { against: other.name, role, chosen: meanOf(own), other: meanOf(others), gain };
}

function tunedSet(
  candidate: TuneCandidate,
  isJudged: boolean,
  objective: TuneObjective,
  { tuning, heldOut }: WorkloadParts,
  evaluations: Evaluations,
): TunedSet {
  const mean = (parts: readonly WorkloadPart[]) =>
    meanOf(valuesOf(candidate, objective.metric.key, parts, evaluations));
  return {
    name: candidate.name,
    origin: candidate.origin,
    tuning: mean(tuning),
    held_out: isJudged ? mean(heldOut) : null,
    keeps_constraints: !breaksConstraints(evaluations.score(candidate, isJudged ? heldOut : tuning)),
  };
}
