import type { Variant } from '../../experiment/experiment.js';
import type { TraceHashes } from '../../experiment/recipes/trace-recipe.js';
import type { WorkloadRecipe } from '../../experiment/recipes/workload-recipe.js';
import { policyOptions } from '../../policy/policy-options.js';
import { routingPolicy } from '../../policy/registry.js';
import type { GoodputTarget, PolicyChoice } from '../../simulator/cluster-config.js';
import { distributionSpec } from '../../workload/generate/distribution-spec.js';
import { isLengthPreset } from '../../workload/generate/presets.js';
import { checkConflicts } from '../config/flag-conflicts.js';
import { readyMade, specFile, specTargets } from '../config/generate-from-spec.js';
import { distributionWorkload, type GeneratorFlags } from '../config/generate-run-workload.js';
import { checkReplayWorkload, replayClient } from '../config/replay-workload.js';
import { resolveCluster, type SimulationFlags, withHeaderTargets } from '../config/resolve-cluster.js';
import { checkRunWorkload } from '../config/run-workload.js';
import type { Diagnostics } from '../diagnostics.js';
import type { ReplayWorkloadFlags } from '../flags/replay-workload-flags.js';
import type { RunWorkloadFlags } from '../flags/run-workload-flags.js';
import { tracePartOf } from '../flags/trace-part-flags.js';
import { REPLAY } from '../simulate/replay.js';
import { RUN } from '../simulate/run.js';
import { atPlaces, type Settings, settingsAsFlags } from './settings.js';
import type { PlannedVariant } from './variant-plan.js';

const TRACE_FLAGS = ['trace', 'trace-header', 'trace-data'];

/**
 * Turns a planned variant into plain data that a worker can simulate.
 * @param hashes shared by variants that replay the same trace
 */
export async function resolveVariant(
  planned: PlannedVariant,
  diagnostics: Diagnostics,
  hashes: TraceHashes = new Map(),
): Promise<Variant> {
  const { name, against, isolates, series, x, settings, source } = planned;
  return atPlaces(settings, source, async () => {
    const { config, workload } = replays(settings)
      ? await resolveReplay(settings, diagnostics, hashes)
      : await resolveRun(settings, planned.workload, diagnostics);
    const routing = planned.options === undefined ? config.routing : withOptions(config.routing, planned.options);
    return {
      ...{ name, against, isolates, series, x },
      config: { ...config, routing, ...(planned.admission === undefined ? {} : { admission: planned.admission }) },
      workload: planned.maxTurns === undefined ? workload : withMaxTurns(workload, planned.maxTurns),
    };
  });
}

/** Options of the command line come before those of a policy file. */
function withOptions({ options, policy }: PolicyChoice, own: Readonly<Record<string, unknown>>): PolicyChoice {
  const all = policyOptions(routingPolicy(policy), { ...options, ...own }, '--routing-policy');
  return { policy, options: { ...(all as Record<string, unknown>) } };
}

function replays(settings: Settings): boolean {
  return TRACE_FLAGS.some((name) => settings.has(name));
}

type Resolved = Pick<Variant, 'config' | 'workload'>;

async function resolveRun(
  settings: Settings,
  own: WorkloadRecipe | undefined,
  diagnostics: Diagnostics,
): Promise<Resolved> {
  const flags = await settingsAsFlags<SimulationFlags & RunWorkloadFlags>(RUN, settings, {
    problem: 'there is no trace',
    hint: 'add --trace-data, or leave it out',
  });
  checkConflicts(flags);
  checkRunWorkload(flags);
  const { config } = await resolveCluster(flags, diagnostics, true);
  if (own !== undefined) return { config, workload: own };
  const { goodputTargets, recipe } = await specRecipe(flags);
  return {
    config: { ...config, goodputTargets: withHeaderTargets(config.goodputTargets, goodputTargets) },
    workload: recipe,
  };
}

async function resolveReplay(settings: Settings, diagnostics: Diagnostics, hashes: TraceHashes): Promise<Resolved> {
  const flags = await settingsAsFlags<SimulationFlags & ReplayWorkloadFlags>(REPLAY, settings, {
    problem: 'a trace has its own requests',
    hint: 'leave it out, or leave out the trace',
  });
  checkConflicts(flags);
  const { header, data } = checkReplayWorkload(flags);
  const { config } = await resolveCluster(flags, diagnostics, true);
  const part = tracePartOf(flags);
  const client = replayClient(flags);
  const { traceRecipe } = await import('../../experiment/recipes/trace-recipe.js');
  const trace = {
    header: header?.path ?? null,
    data: data.path,
    ...(part === undefined ? {} : { part }),
    sessionMode: flags.values['session-mode'],
    thinkTimeMs: flags.values['think-time-ms'],
    thinkTimeDist: flags.values['think-time-dist'],
    maxTurns: null,
    ...(Object.keys(client).length === 0 ? {} : { client }),
  };
  return { config, workload: await traceRecipe(trace, hashes) };
}

function withMaxTurns(workload: WorkloadRecipe, maxTurns: number): WorkloadRecipe {
  return workload.kind === 'trace' || workload.kind === 'agentic-coder' ? { ...workload, maxTurns } : workload;
}

/** The workload that `run` would generate from these flags, as a recipe, with its goodput targets. */
async function specRecipe(
  flags: GeneratorFlags,
): Promise<{ recipe: WorkloadRecipe; goodputTargets: Record<string, GoodputTarget> }> {
  const { values, given } = flags;
  const path = values['workload-spec'];
  if (path === null && isLengthPreset(values.workload)) {
    const spec = distributionSpec(distributionWorkload(flags));
    return { recipe: { kind: 'spec', spec, options: {} }, goodputTargets: {} };
  }
  const spec = path === null ? readyMade(flags) : await specFile(flags, path);
  const { timeout, horizon } = values;
  const options = {
    ...(given('num-requests') ? { numRequests: values['num-requests'] } : {}),
    ...(horizon === null ? {} : { horizonUs: horizon }),
    ...(given('timeout') ? { timeoutUs: timeout > 0 ? Math.trunc(timeout * 1e6) : 0 } : {}),
  };
  return { recipe: { kind: 'spec', spec, options }, goodputTargets: specTargets(spec) };
}
