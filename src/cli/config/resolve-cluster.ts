import type { LatencyModel } from '../../replica/latency/contract.js';
import {
  type ClusterConfig,
  type DetectorSettings,
  EVERY_CLASS,
  type GoodputTarget,
} from '../../simulator/cluster-config.js';
import { type PolicyBundle, readPolicyBundle } from '../../simulator/policy-bundle.js';
import type { Diagnostics } from '../diagnostics.js';
import { conflictingFlags } from '../errors.js';
import type { ClusterFlags } from '../flags/cluster-flags.js';
import type { FlagValues } from '../flags/flag.js';
import type { FlowControlFlags } from '../flags/flow-control-flags.js';
import type { InstanceFlags } from '../flags/instance-flags.js';
import { type DetectorFlags, detectorFlags, detectorReportFlags, type OutputFlags } from '../flags/output-flags.js';
import { resolveFleet } from './fleet/resolve-fleet.js';
import { resolveAdmission } from './resolve-admission.js';
import { resolveFlowControl } from './resolve-flow-control.js';
import { resolveRouting } from './resolve-routing.js';

export interface ResolvedCluster {
  config: ClusterConfig;
  latency: LatencyModel;
}

export type SimulationFlags = ClusterFlags & FlowControlFlags & InstanceFlags & OutputFlags;

/**
 * Turns flags, the policy file and the catalogue into the plain data a simulation runs on.
 * @param ignoresIdleFlags a flag for policies in general that this one has no use for is no error: it is meant for others
 */
export async function resolveCluster(
  flags: FlagValues<SimulationFlags>,
  diagnostics: Diagnostics,
  ignoresIdleFlags = false,
): Promise<ResolvedCluster> {
  const { values } = flags;
  const bundle: PolicyBundle | null =
    values['policy-config'] === null ? null : await readPolicyBundle(values['policy-config']);
  for (const line of bundle?.warnings ?? []) diagnostics.warn(line);
  const { latency, ...replicas } = await resolveFleet(flags, bundle, diagnostics);
  const config: ClusterConfig = {
    instances: replicas.instances,
    seed: values.seed,
    ...(values['arrival-jitter-ms'] === 0 ? {} : { arrivalJitterUs: Math.round(values['arrival-jitter-ms'] * 1000) }),
    horizonUs: values.horizon,
    replica: replicas.replica,
    ...(replicas.fleet === undefined ? {} : { fleet: replicas.fleet }),
    ...slowFactors(flags, replicas.instances),
    ...(values.gateways === 1 ? {} : { gateways: values.gateways }),
    admission: resolveAdmission(flags, bundle),
    tenantBudgets: bundle?.tenant_budgets ?? {},
    sloPriorities: bundle?.admission.slo_priorities ?? {},
    admissionLatencyUs: values['admission-latency'],
    flowControl: resolveFlowControl(flags, bundle, diagnostics),
    routing: resolveRouting(flags, bundle, diagnostics, ignoresIdleFlags),
    routingLatencyUs: values['routing-latency'],
    snapshotRefreshUs: values['snapshot-refresh-interval'],
    cacheSignalDelayUs: values['cache-signal-delay'],
    traceLevel: values['trace-level'],
    counterfactualK: values['counterfactual-k'],
    summarizeTrace: values['summarize-trace'],
    fitnessWeights: values['fitness-weights'],
    goodputTargets: goodputTargets(flags),
    ...detectorsOf(flags),
  };
  if (config.gateways !== undefined && config.flowControl !== null) {
    const hint = 'simulate flow control with one gateway';
    throw conflictingFlags('--gateways', 'is given with flow control, whose queue is in one gateway', hint);
  }
  return { config, latency };
}

/** No factor is left without a replica: nothing that was given is ignored in silence. */
function slowFactors({ values }: FlagValues<ClusterFlags>, replicas: number): Pick<ClusterConfig, 'slowFactors'> {
  const factors = values['slow-factors'];
  if (factors === null) return {};
  if (factors.length > replicas) {
    const problem = `${factors.length} factors for ${replicas} replica${replicas === 1 ? '' : 's'}`;
    throw conflictingFlags('--slow-factors', problem, 'give one for each replica at most, or raise --num-instances');
  }
  return { slowFactors: factors };
}

/** A threshold without a detector would change nothing. */
function detectorsOf({ given, values }: FlagValues<DetectorFlags & typeof detectorReportFlags>): {
  detectors?: DetectorSettings;
} {
  const { detectors: names } = values;
  if (names.length > 0) {
    const { 'saturation-window': windowS, 'saturation-threshold-ms': thresholdMs } = values;
    const { 'saturation-bucket': bucketS, 'saturation-slope': slopeFactor } = values;
    return { detectors: { names, windowS, thresholdMs, bucketS, slopeFactor } };
  }
  const settings = Object.keys({ ...detectorFlags, ...detectorReportFlags }) as (keyof DetectorFlags)[];
  const idle = settings.find((name) => given(name));
  if (idle === undefined) return {};
  throw conflictingFlags(`--${idle}`, 'given without detectors', 'add --detectors all');
}

function goodputTargets({ values }: FlagValues<OutputFlags>): Record<string, GoodputTarget> {
  const targets: Record<string, GoodputTarget> = {};
  const dimensions = [
    ['ttftUs', values['slo-ttft']],
    ['itlUs', values['slo-itl']],
    ['e2eUs', values['slo-e2e']],
  ] as const;
  for (const [dimension, byClass] of dimensions) {
    for (const [sloClass, us] of Object.entries(byClass)) {
      targets[sloClass] = { ...targets[sloClass], [dimension]: us };
    }
  }
  return targets;
}

/** Targets of a trace's header, unless a flag sets others. */
export function withHeaderTargets(
  own: Record<string, GoodputTarget>,
  header: Readonly<Record<string, GoodputTarget>>,
): Record<string, GoodputTarget> {
  const merged = { ...own };
  for (const [sloClass, target] of Object.entries(header)) {
    merged[sloClass] = { ...target, ...own[EVERY_CLASS], ...own[sloClass] };
  }
  return merged;
}
