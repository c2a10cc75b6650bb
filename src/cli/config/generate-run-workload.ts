import type { GoodputTarget } from '../../simulator/cluster-config.js';
import { type DistributionWorkload, generateWorkload } from '../../workload/generate/distribution-workload.js';
import { workloadPreset } from '../../workload/generate/presets.js';
import type { TraceFacts } from '../../workload/trace-v2/write.js';
import type { Workload } from '../../workload/workload.js';
import type { FlagValues } from '../flags/flag.js';
import type { OutputFlags } from '../flags/output-flags.js';
import type { RunWorkloadFlags } from '../flags/run-workload-flags.js';

export interface RunWorkload {
  workload: Workload;
  facts: Record<string, unknown>;
  traceFacts: TraceFacts;
}

/** Makes the requests that the flags describe. */
export function generateRunWorkload(
  flags: FlagValues<RunWorkloadFlags & OutputFlags>,
  goodputTargets: Record<string, GoodputTarget>,
): RunWorkload {
  const { values } = flags;
  const spec = distributionWorkload(flags);
  const origin = values.workload === 'distribution' ? {} : { workloadSpec: `preset:${values.workload}` };
  const pauses = values.concurrency === null ? {} : { thinkTimeUs: Math.round(values['think-time-ms'] * 1000) };
  return {
    workload: generateWorkload(spec, values.seed),
    facts: { command: 'run', ...spec },
    traceFacts: { mode: 'generated', workloadSeed: values.seed, ...origin, ...pauses, goodputTargets },
  };
}

function distributionWorkload({ values }: FlagValues<RunWorkloadFlags>): DistributionWorkload {
  const lengths = (kind: 'prompt' | 'output') => ({
    mean: values[`${kind}-tokens`],
    stdev: values[`${kind}-tokens-stdev`],
    min: values[`${kind}-tokens-min`],
    max: values[`${kind}-tokens-max`],
  });
  const preset =
    values.workload === 'distribution'
      ? { prompt: lengths('prompt'), output: lengths('output') }
      : workloadPreset(values.workload);
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
