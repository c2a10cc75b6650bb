import type { GoodputTarget } from '../../simulator/cluster-config.js';
import { type DistributionWorkload, distributionSpec } from '../../workload/generate/distribution-spec.js';
import { generateSpecWorkload } from '../../workload/generate/generate-spec-workload.js';
import { isLengthPreset, LENGTH_PRESETS } from '../../workload/generate/presets.js';
import type { TraceFacts } from '../../workload/trace-v2/write.js';
import type { Workload } from '../../workload/workload.js';
import type { Diagnostics } from '../diagnostics.js';
import type { FlagValues } from '../flags/flag.js';
import type { OutputFlags } from '../flags/output-flags.js';
import type { RunWorkloadFlags } from '../flags/run-workload-flags.js';

export interface RunWorkload {
  workload: Workload;
  facts: Record<string, unknown>;
  traceFacts: TraceFacts;
  /** Those of flags, else those of the specification. */
  goodputTargets: Record<string, GoodputTarget>;
}

export type GeneratorFlags = FlagValues<RunWorkloadFlags & Pick<OutputFlags, 'seed' | 'horizon' | 'trace-output'>>;

/** Generates the requests that the flags, or a specification, describe. */
export async function generateRunWorkload(
  flags: GeneratorFlags,
  goodputTargets: Record<string, GoodputTarget>,
  diagnostics: Diagnostics,
): Promise<RunWorkload> {
  const { values } = flags;
  if (values['workload-spec'] === null && isLengthPreset(values.workload)) return fromFlags(flags, goodputTargets);
  const { generateFromSpec } = await import('./generate-from-spec.js');
  return generateFromSpec(flags, goodputTargets, diagnostics);
}

function fromFlags(flags: GeneratorFlags, goodputTargets: Record<string, GoodputTarget>): RunWorkload {
  const { values } = flags;
  const described = distributionWorkload(flags);
  const spec = distributionSpec(described);
  const origin = values.workload === 'distribution' ? {} : { workloadSpec: `preset:${values.workload}` };
  return {
    workload: generateSpecWorkload(spec, { seed: values.seed }),
    facts: { command: 'run', ...described },
    traceFacts: { mode: 'generated', workloadSeed: values.seed, ...origin, goodputTargets },
    goodputTargets,
  };
}

export function distributionWorkload({ values }: FlagValues<RunWorkloadFlags>): DistributionWorkload {
  const lengths = (kind: 'prompt' | 'output') => ({
    mean: values[`${kind}-tokens`],
    stdev: values[`${kind}-tokens-stdev`],
    min: values[`${kind}-tokens-min`],
    max: values[`${kind}-tokens-max`],
  });
  const preset =
    values.workload === 'distribution'
      ? { prompt: lengths('prompt'), output: lengths('output') }
      : LENGTH_PRESETS[values.workload]!;
  return {
    client: values.workload,
    ...preset,
    numRequests: values['num-requests'],
    rate: values.concurrency === null ? values.rate : null,
    concurrency: values.concurrency,
    thinkTimeMs: values['think-time-ms'],
    prefixTokens: values['prefix-tokens'],
    timeout: values.timeout,
  };
}
