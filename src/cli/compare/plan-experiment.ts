import type { Experiment, RunInputs, Variant } from '../../experiment/experiment.js';
import type { Capacity, Preset } from '../../experiment/presets/preset.js';
import { PRESETS } from '../../experiment/presets/registry.js';
import { dependsOnSeed } from '../../experiment/recipes/workload-recipe.js';
import type { RunSummary } from '../../experiment/runs/run-summary.js';
import { type Diagnostics, saidOnce } from '../diagnostics.js';
import { conflictingFlags } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import { type ComparisonFlags, variantFlags } from './compare-flags.js';
import { planPreset, presetSettings } from './plan-preset.js';
import { resolveVariant } from './resolve-variant.js';
import type { Settings } from './settings.js';
import { type PlannedVariant, planVariants } from './variant-plan.js';

const FIRST_SEED = 42;
const SEEDS = 5;

/** Simulates runs while planning: for presets that measure the fleet first. */
export type Simulate = (runs: readonly RunInputs[]) => Promise<RunSummary[]>;

/** Turns the command line into an experiment: everything is read, checked and resolved. */
export async function planExperiment(
  flags: FlagValues<ComparisonFlags>,
  configs: readonly string[],
  given: Settings,
  diagnostics: Diagnostics,
  simulate: Simulate,
): Promise<Experiment> {
  const once = saidOnce(diagnostics);
  const resolve = (planned: readonly PlannedVariant[]) => Promise.all(planned.map((one) => resolveVariant(one, once)));
  const { preset: name } = flags.values;
  if (name === null) {
    const { variants: planned, axis, lists } = await planVariants(configs, given, variantFlags);
    const variants = await resolve(planned);
    warnOfOtherWorkloads(variants, lists.length === 0, diagnostics);
    const isOfPolicies = configs.length === 0 && (lists.length === 0 || lists.join() === 'rate');
    const title = isOfPolicies ? 'Routing policies' : 'Configurations';
    return { title, variants, seeds: seedsOf(flags.values, variants), axis, headline: null, notes: notesOf(variants) };
  }
  if (configs.length > 0) throw conflictingFlags('--preset', 'given together with --config', 'keep one of them');
  const preset = PRESETS.find((one) => one.name === name)!;
  const capacity = await measureCapacity(preset, given, once, simulate);
  const variants = await resolve(planPreset(preset, given, capacity));
  return {
    title: preset.title,
    variants,
    seeds: seedsOf(flags.values, variants),
    axis: preset.axis,
    headline: preset.headline,
    notes: [...preset.notes(capacity), ...notesOf(variants)],
  };
}

/** Offers the fleet far more than it can serve, which measures its capacity. */
async function measureCapacity(
  preset: Preset,
  given: Settings,
  diagnostics: Diagnostics,
  simulate: Simulate,
): Promise<Capacity> {
  if (preset.capacityWorkload === null) return { requestsPerSec: 0, inputTokensPerSec: 0 };
  const { config } = await resolveVariant(
    {
      ...{ name: 'capacity', against: null, isolates: '', series: '', x: null, source: '' },
      settings: presetSettings(preset, given),
      workload: preset.capacityWorkload(),
    },
    diagnostics,
  );
  const [summary] = await simulate([{ config, workload: preset.capacityWorkload() }]);
  const requestsPerSec = summary!.metrics.responses_per_sec!;
  return { requestsPerSec, inputTokensPerSec: (summary!.inputTokens / summary!.requests) * requestsPerSec };
}

/** A workload that is the same for every seed is simulated once, unless --seeds or --seed is given. */
export function seedsOf(
  values: Pick<FlagValues<ComparisonFlags>['values'], 'seed' | 'seeds'>,
  variants: readonly RunInputs[],
): readonly number[] {
  if (values.seed !== null) {
    if (values.seeds !== null) throw conflictingFlags('--seeds', 'given together with --seed', 'keep one of them');
    return values.seed;
  }
  const count = values.seeds ?? (variants.some(variesWithSeed) ? SEEDS : 1);
  return Array.from({ length: count }, (_, i) => FIRST_SEED + i);
}

/** Whether two seeds give two workloads, or the same at slightly different times. */
function variesWithSeed({ config, workload }: RunInputs): boolean {
  return dependsOnSeed(workload) || config.arrivalJitterUs !== undefined;
}

export function notesOf(variants: readonly RunInputs[]): string[] {
  if (variants.some(({ workload }) => dependsOnSeed(workload))) return [];
  if (variants.some(variesWithSeed)) {
    return [
      'The workload is recorded; seeds change its arrival times, by the jitter, and what policies draw: intervals show what depends on chance, and say nothing about other traffic.',
    ];
  }
  return [
    'The workload is recorded, the same for every seed: seeds change only what policies draw, and intervals say nothing about other traffic.',
  ];
}

/** Variants can only be compared under the same workload. */
function warnOfOtherWorkloads(variants: readonly Variant[], sameLoad: boolean, { warn }: Diagnostics): void {
  const first = JSON.stringify(variants[0]!.workload);
  const other = variants.find(({ workload }) => JSON.stringify(workload) !== first);
  if (!sameLoad || other === undefined) return;
  warn(`${other.name} has another workload than ${variants[0]!.name}: they differ in more than the cluster`);
}
