import { AXIS_FORMS } from '../../experiment/sweep/axis.js';
import { readSample, SAMPLE_FORMS, type SweepSample } from '../../experiment/sweep/sample-points.js';
import { comparisonFlags, measureFlags } from '../compare/compare-flags.js';
import { badValue } from '../errors.js';
import { detachFlags, executionFlags, resultFlags } from '../execution/execution-flags.js';
import { clusterFlags } from '../flags/cluster-flags.js';
import type { CommandLine } from '../flags/command-line.js';
import { asTexts, type Flag } from '../flags/flag.js';
import { flowControlFlags } from '../flags/flow-control-flags.js';
import { instanceFlags } from '../flags/instance-flags.js';
import { count, listFlag } from '../flags/kinds.js';
import { detectorFlags } from '../flags/output-flags.js';
import { replayWorkloadFlags } from '../flags/replay-workload-flags.js';
import { runWorkloadFlags } from '../flags/run-workload-flags.js';

/** A flag that may be given several times; each value is kept as it was written. */
export function repeated(spec: { placeholder: string; accepted: string; help: string }): Flag<readonly string[]> {
  const read = (text: string, place: string) => {
    const items = text.split('\n').map((item) => item.trim());
    if (items.includes('')) throw badValue(place, '', 'is empty', spec.accepted);
    return items;
  };
  return { ...listFlag<readonly string[]>({ default: [], ...spec, read }), repeats: true };
}

/** What varies, how often, and what is asked. */
export const sweepOwnFlags = {
  axis: repeated({
    placeholder: 'name=values',
    accepted: `a flag or a key of a file, '=', and ${AXIS_FORMS}`,
    help: 'a setting that varies, repeated for each: num-instances=4,6,8 or policy-config:routing.scorers.0.weight=1,2',
  }),
  sample: listFlag<SweepSample | null>({
    default: null,
    defaultText: 'grid',
    placeholder: 'how',
    accepted: SAMPLE_FORMS,
    read: readSample,
    help: 'points to simulate: every combination, or as many as given, drawn at random or spread evenly over every axis',
  }),
  'sample-seed': count({ default: null, defaultText: '42', help: 'seed of the drawn points' }),
  constraint: repeated({
    placeholder: 'condition',
    accepted: "a condition, as in 'ttft_p99<=500ms' or 'num-instances*tp<=16'",
    help: "a condition on results or settings, repeated for each: 'ttft_p99<=500ms', 'num-instances*tp<=16'",
  }),
  objective: listFlag<string | null>({
    default: null,
    defaultText: 'load and GPUs under constraints, else TTFT p99',
    placeholder: 'measure',
    accepted: 'a metric, gpus or a setting',
    read: (text) => text,
    help: 'what the best point is best in: ttft_p99, goodput, gpus, rate, or name:less and name:more',
  }),
  pareto: listFlag<readonly string[] | null>({
    default: null,
    defaultText: 'the latency, GPUs and the load, as far as they vary',
    placeholder: 'measures',
    accepted: 'measures with commas between them',
    read: (text) => text.split(','),
    help: 'what the Pareto front weighs: ttft_p99,gpus,...',
  }),
  seeds: comparisonFlags.seeds,
  seed: comparisonFlags.seed,
};

export type SweepOwnFlags = typeof sweepOwnFlags;

/** `--think-time-ms` and `--timeout` are flags of both workloads and mean the same. */
const { 'think-time-ms': _, timeout: __, ...recordedFlags } = replayWorkloadFlags;

export const sweepGroups: CommandLine['groups'] = [
  { title: 'Sweep', flags: sweepOwnFlags },
  { title: 'Execution', flags: { ...executionFlags, ...detachFlags } },
  { title: 'Cluster', flags: asTexts(clusterFlags) },
  { title: 'Flow control', flags: asTexts(flowControlFlags) },
  { title: 'Instance', flags: asTexts(instanceFlags) },
  { title: 'Generated workload', flags: asTexts(runWorkloadFlags) },
  { title: 'Recorded workload', flags: asTexts(recordedFlags) },
  { title: 'Output', flags: { ...asTexts({ ...measureFlags, ...detectorFlags }), ...resultFlags } },
];

/** The flags that `run` and `replay` do not have: listed in the documentation of `sweep`. */
export const ownSweepGroups: CommandLine['groups'] = [
  { title: 'Sweep', flags: sweepOwnFlags },
  { title: 'Execution', flags: { ...executionFlags, ...detachFlags } },
  { title: 'Output', flags: resultFlags },
];
