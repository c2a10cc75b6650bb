import type { GoodputTarget } from '../../simulator/cluster-config.js';
import { DEFAULT_REQUESTS, generateSpecWorkload } from '../../workload/generate/generate-spec-workload.js';
import { presetSpec } from '../../workload/generate/presets.js';
import { mixesRatesAndUsers } from '../../workload/generate/spec-facts.js';
import { hasRate, trafficOf } from '../../workload/spec/walk.js';
import type { WorkloadSpec } from '../../workload/spec/workload-spec.js';
import type { Diagnostics } from '../diagnostics.js';
import { conflictingFlags } from '../errors.js';
import type { GeneratorFlags, RunWorkload } from './generate-run-workload.js';
import { withHeaderTargets } from './resolve-cluster.js';

/** Generates the requests of `--workload-spec`, or of a preset; given flags take precedence. */
export async function generateFromSpec(
  flags: GeneratorFlags,
  ownTargets: Record<string, GoodputTarget>,
  diagnostics: Diagnostics,
): Promise<RunWorkload> {
  const { values } = flags;
  const origin = values['workload-spec'] ?? `preset:${values.workload}`;
  const spec = values['workload-spec'] === null ? readyMade(flags) : await specFile(flags, values['workload-spec']);
  const seed = flags.given('seed') ? values.seed : (spec.seed ?? values.seed);
  const numRequests = flags.given('num-requests') ? values['num-requests'] : spec.num_requests;
  const timeout = flags.given('timeout') ? values.timeout : null;
  const workload = generateSpecWorkload(spec, {
    seed,
    ...(numRequests === undefined ? {} : { numRequests }),
    ...(values.horizon === null ? {} : { horizonUs: values.horizon }),
    ...(timeout === null ? {} : { timeoutUs: timeout > 0 ? Math.trunc(timeout * 1e6) : 0 }),
  });
  const isTimed = (spec.horizon ?? values.horizon) !== null;
  if (mixesRatesAndUsers(spec) && workload.table.count === (numRequests ?? (isTimed ? -1 : DEFAULT_REQUESTS))) {
    const problem = 'clients with a rate use up num_requests, and those with concurrency cannot send again';
    diagnostics.warn(`${origin}: ${problem}; give a horizon instead`);
  }
  if (values['trace-output'] !== null && workload.table.contextTokens.some((tokens) => tokens > 0)) {
    diagnostics.warn('--trace-output: a trace does not record growing contexts: its replay has fewer cache hits');
  }
  const goodputTargets = withHeaderTargets(ownTargets, specTargets(spec));
  return {
    workload,
    facts: {
      command: 'run',
      workloadSpec: origin,
      workloadSeed: seed,
      rate: spec.aggregate_rate ?? null,
      numRequests: numRequests ?? null,
      timeout,
    },
    traceFacts: {
      mode: 'generated',
      workloadSeed: seed,
      workloadSpec: origin,
      goodputTargets,
    },
    goodputTargets,
  };
}

export async function specFile(flags: GeneratorFlags, path: string): Promise<WorkloadSpec> {
  const { readWorkloadSpecFile } = await import('../../workload/spec/read-workload-spec.js');
  const isRateGiven = flags.given('rate');
  if (isRateGiven && hasOwnRates(await readWorkloadSpecFile(path))) {
    const problem = `the windows of ${path} have their own rates`;
    throw conflictingFlags('--rate', problem, 'leave it out, or change trace_rate in the specification');
  }
  const spec = await readWorkloadSpecFile(path, isRateGiven ? { aggregateRate: flags.values.rate } : {});
  if (isRateGiven && ![...trafficOf(spec)].some(({ traffic }) => hasRate(traffic))) {
    const problem = `no client of ${path} has a share of a rate`;
    throw conflictingFlags('--rate', problem, 'leave it out, or change the specification');
  }
  return spec;
}

/** Without an aggregate rate every window sets its own: a rate from a flag would override them all. */
function hasOwnRates(spec: WorkloadSpec): boolean {
  return (spec.aggregate_rate ?? 0) === 0 && [...trafficOf(spec)].some(({ traffic }) => hasRate(traffic));
}

export function readyMade({ values, given }: GeneratorFlags): WorkloadSpec {
  const spec = presetSpec(values.workload);
  return given('rate') ? { ...spec, aggregate_rate: values.rate } : spec;
}

export function specTargets({ goodput_slo_targets = {} }: WorkloadSpec): Record<string, GoodputTarget> {
  const targets: Record<string, GoodputTarget> = {};
  for (const [sloClass, { ttft_ms, itl_ms, e2e_ms }] of Object.entries(goodput_slo_targets)) {
    targets[sloClass] = {
      ...(ttft_ms === undefined ? {} : { ttftUs: ttft_ms * 1000 }),
      ...(itl_ms === undefined ? {} : { itlUs: itl_ms * 1000 }),
      ...(e2e_ms === undefined ? {} : { e2eUs: e2e_ms * 1000 }),
    };
  }
  return targets;
}
