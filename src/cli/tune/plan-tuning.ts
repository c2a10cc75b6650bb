import { type Metric, metricOf } from '../../experiment/metrics.js';
import { boundOf, parseConstraint } from '../../experiment/sweep/constraint.js';
import { measureNamed, unknownMeasure } from '../../experiment/sweep/measure.js';
import { KNOB_GROUPS, type KnobGroup } from '../../experiment/tune/knobs.js';
import type { MetricBound } from '../../experiment/tune/objective.js';
import type { TuneFleets } from '../../experiment/tune/tune-fleets.js';
import { whole } from '../../schema/fields.js';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { resolveVariant } from '../compare/resolve-variant.js';
import { mergeSettings, type Settings } from '../compare/settings.js';
import type { Diagnostics } from '../diagnostics.js';
import { badChoice, badValue, conflictingFlags } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import { readNumber } from '../flags/read-number.js';
import { routingPolicyNames } from '../flags/registered-names.js';
import type { TuningFlags } from './tune-flags.js';

/** What `serve` routes by when nothing is said: the choice to beat. */
const LIVE_DEFAULT = 'unified';
const COST = 'cost';

/** Turns the command line into what is tuned: everything is read, checked and resolved. */
export async function planTuning(
  { values }: FlagValues<TuningFlags>,
  given: Settings,
  diagnostics: Diagnostics,
): Promise<TuneFleets> {
  const { config, workload } = await resolveVariant(
    {
      ...{ name: 'given', against: null, isolates: '', series: '', x: null, source: '' },
      settings: withLivePolicy(given),
    },
    diagnostics,
  );
  const metric = objectiveOf(values.objective, config);
  const constraints = values.constraint.map(boundFrom);
  const fleets = fleetsOf(values['fleet-sizes'], values.objective, config, constraints.length);
  return {
    config: { ...config, seed: values.seed },
    workload,
    objective: { metric, constraints },
    groups: groupsOf(values.knobs, metric),
    policies: await knownPolicies(values.policies),
    budget: values.budget,
    fleets,
  };
}

/** A bound on a metric: what else a sweep compares is fixed here. */
function boundFrom(text: string): MetricBound {
  const found = boundOf(parseConstraint(text, '--constraint', []));
  if (found?.measure.kind !== 'metric' || found.operator === '=' || found.operator === '!=') {
    throw badValue('--constraint', text, 'is not a bound on a metric', "one such as 'ttft_p99<=500ms'");
  }
  const bound = found.operator.startsWith('<') ? 'at most' : 'at least';
  return { metric: found.measure.key, bound, value: found.value };
}

function withLivePolicy(given: Settings): Settings {
  if (given.has('routing-policy') || given.has('policy-config')) return given;
  return mergeSettings(given, new Map([['routing-policy', { text: LIVE_DEFAULT, place: '--routing-policy' }]]));
}

/** For the objective cost the metric orders sets of one fleet. */
function objectiveOf(name: string | null, { fitnessWeights, goodputTargets }: ClusterConfig): Metric {
  const isWeighted = Object.keys(fitnessWeights).length > 0;
  const hasTargets = Object.keys(goodputTargets).length > 0;
  if (name === null || name === COST) {
    return metricOf(isWeighted ? 'fitness' : hasTargets ? 'goodput_rps' : 'ttft_p90_ms');
  }
  const measure = measureNamed(name, []);
  if (measure?.kind !== 'metric') throw unknownMeasure(name, '--objective', [COST]);
  const metric = metricOf(measure.key);
  if (metric.key === 'fitness' && !isWeighted) {
    throw conflictingFlags('--objective', 'fitness has no weights', 'add --fitness-weights p99_ttft:1,throughput:1');
  }
  if ((metric.key === 'goodput_rps' || metric.key === 'slo_attainment') && !hasTargets) {
    throw conflictingFlags('--objective', `${name} has no targets`, 'add --slo-ttft, --slo-itl or --slo-e2e');
  }
  return metric;
}

function groupsOf(knobs: readonly string[] | null, { key }: Metric): KnobGroup[] {
  if (knobs === null) return key === 'goodput_rps' || key === 'slo_attainment' ? [...KNOB_GROUPS] : ['routing'];
  const unknown = knobs.find((name) => !KNOB_GROUPS.includes(name as KnobGroup));
  if (unknown !== undefined) throw badChoice('--knobs', unknown, KNOB_GROUPS);
  return KNOB_GROUPS.filter((name) => knobs.includes(name));
}

async function knownPolicies(names: readonly string[] | null): Promise<readonly string[]> {
  const known = await routingPolicyNames();
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined) throw badChoice('--policies', unknown, known);
  return names ?? [];
}

/** The fleet sizes to try, the smallest first: only the objective cost tries several. */
function fleetsOf(
  fleet: readonly string[] | null,
  objective: string | null,
  { instances }: ClusterConfig,
  constraints: number,
): number[] {
  if (objective !== COST) {
    if (fleet === null) return [instances];
    throw conflictingFlags(
      '--fleet-sizes',
      'is only for the objective cost',
      'add --objective cost, or give --num-instances',
    );
  }
  if (fleet === null)
    throw conflictingFlags('--objective', 'cost needs fleets to choose from', 'add --fleet-sizes 2,3,4');
  if (constraints === 0) {
    const hint = "add --constraint, such as 'ttft-p99<=500ms'";
    throw conflictingFlags('--objective', 'the cheapest fleet that keeps nothing is the smallest', hint);
  }
  const sizes = fleet.map((size) => readNumber(size, '--fleet-sizes', whole(1, 100_000)));
  return [...new Set(sizes)].sort((a, b) => a - b);
}
