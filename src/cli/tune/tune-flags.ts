import { METRICS } from '../../experiment/metrics.js';
import { measureFlags } from '../compare/compare-flags.js';
import type { ExperimentFile } from '../compare/experiment-file.js';
import { executionFlags, resultFlags } from '../execution/execution-flags.js';
import { clusterFlags } from '../flags/cluster-flags.js';
import type { CommandLine } from '../flags/command-line.js';
import { asTexts } from '../flags/flag.js';
import { flowControlFlags } from '../flags/flow-control-flags.js';
import { instanceFlags } from '../flags/instance-flags.js';
import { count, file, listFlag, stringFlag } from '../flags/kinds.js';
import { routingPolicyNames } from '../flags/registered-names.js';
import { replayWorkloadFlags } from '../flags/replay-workload-flags.js';
import { runWorkloadFlags } from '../flags/run-workload-flags.js';
import { repeated } from '../sweep/sweep-flags.js';

/** Fewer runs cannot try every policy once and judge the best. */
export const LEAST_BUDGET = 80;

const names = (given: string) => [...new Set(given.split(',').map((item) => item.trim()))];

/** What is tuned, for what, and how long. */
export const tuningFlags = {
  objective: stringFlag({
    default: null,
    placeholder: 'metric',
    defaultText: 'fitness or goodput where weights or targets are given, else ttft_p90',
    suggestions: async () => [...METRICS.map(({ key }) => key.replace(/_ms$/, '')), 'cost'],
    help: 'what to improve: ttft_p99, e2e_mean, goodput, fitness, cost (the fewest of --fleet-sizes that keep all constraints), ...',
  }),
  constraint: repeated({
    placeholder: 'bound',
    accepted: "a bound on a metric, as in 'ttft_p99<=500ms'",
    help: "what must hold, repeated for each: 'ttft_p99<=500ms', 'rejected_share<=1%'",
  }),
  knobs: listFlag<string[] | null>({
    default: null,
    accepted: 'routing, admission and queue with commas between them',
    read: (given) => names(given),
    defaultText: 'routing; admission and queue too for goodput',
    help: 'what may change: routing (policy, weights, options), admission, queue',
  }),
  policies: listFlag<string[] | null>({
    default: null,
    accepted: 'names of routing policies with commas between them',
    read: (given) => names(given),
    suggestions: routingPolicyNames,
    defaultText: 'all',
    help: 'routing policies to try: name,name,...',
  }),
  'fleet-sizes': listFlag<string[] | null>({
    default: null,
    accepted: 'numbers of replicas with commas between them',
    read: (given) => names(given),
    help: 'fleet sizes for the objective cost, n,n,...',
  }),
  budget: count({ default: 200, min: LEAST_BUDGET, max: 100_000, help: 'runs in all, those that judge included' }),
  seed: count({ default: 42, help: 'seed of the search and first seed of generated workloads' }),
};

export type TuningFlags = typeof tuningFlags;

/** A file with `kind: Tune`. */
export const TUNE_FILE: ExperimentFile = { kind: 'Tune', own: tuningFlags };

export const tuneOutputFlags = {
  output: {
    ...file({ help: 'also write the chosen policies: a file that run --policy-config and serve --policy-config read' }),
    letter: 'o',
  },
  ...resultFlags,
};

export type TuneOutputFlags = typeof tuneOutputFlags;

const { 'think-time-ms': _, timeout: __, ...recordedFlags } = replayWorkloadFlags;

export const tuneGroups: CommandLine['groups'] = [
  { title: 'Tuning', flags: tuningFlags },
  { title: 'Execution', flags: executionFlags },
  { title: 'Cluster', flags: asTexts(clusterFlags) },
  { title: 'Flow control', flags: asTexts(flowControlFlags) },
  { title: 'Instance', flags: asTexts(instanceFlags) },
  { title: 'Generated workload', flags: asTexts(runWorkloadFlags) },
  { title: 'Recorded workload', flags: asTexts(recordedFlags) },
  { title: 'Output', flags: { ...asTexts(measureFlags), ...tuneOutputFlags } },
];
