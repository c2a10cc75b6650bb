import { whole } from '../../schema/fields.js';
import { detachFlags, executionFlags, resultFlags } from '../execution/execution-flags.js';
import { clusterFlags } from '../flags/cluster-flags.js';
import type { CommandLine } from '../flags/command-line.js';
import { asTexts, type Flag, type FlagTable } from '../flags/flag.js';
import { flowControlFlags } from '../flags/flow-control-flags.js';
import { instanceFlags } from '../flags/instance-flags.js';
import { count, file, listFlag, stringFlag } from '../flags/kinds.js';
import { detectorFlags, outputFlags } from '../flags/output-flags.js';
import { readNumber } from '../flags/read-number.js';
import { presetNames, routingPolicyNames } from '../flags/registered-names.js';
import { replayWorkloadFlags } from '../flags/replay-workload-flags.js';
import { runWorkloadFlags } from '../flags/run-workload-flags.js';

const MAX_SEEDS = 1000;
const SEEDS = 'whole numbers with commas between them';

/** What is compared, how often, and where results stay. */
export const comparisonFlags = {
  config: file({ help: 'a variant: a YAML file with flags of run or replay as keys; repeat it for each' }),
  preset: {
    ...stringFlag({
      default: null,
      placeholder: 'name',
      help: 'a ready-made comparison: variants, workload and metrics',
    }),
    names: presetNames,
  },
  seeds: count({
    default: null,
    min: 1,
    max: MAX_SEEDS,
    defaultText: '5; 1 for a recorded workload without jitter',
    help: 'number of seeds, from 42 on; each variant runs with each',
  }),
  seed: listFlag<number[] | null>({
    default: null,
    accepted: SEEDS,
    read: readSeeds,
    help: 'seeds to use, n,n,...',
  }),
};

export type ComparisonFlags = typeof comparisonFlags;

function readSeeds(given: string, place: string): number[] {
  return [...new Set(given.split(',').map((item) => readNumber(item.trim(), place, whole(0))))];
}

/** Flags of the output that mean the same for a comparison as for one run. */
const MEASURE_FLAGS = ['arrival-jitter-ms', 'horizon', 'fitness-weights', 'slo-ttft', 'slo-itl', 'slo-e2e'] as const;
export const measureFlags = Object.fromEntries(MEASURE_FLAGS.map((name) => [name, outputFlags[name]]));

/** Two flags of run take lists here: every policy is tried with every rate. */
const listFlags = {
  'routing-policy': listFlag<string | null>({
    default: null,
    accepted: 'names of routing policies with commas between them',
    read: (given) => given,
    suggestions: routingPolicyNames,
    defaultText: clusterFlags['routing-policy'].defaultText,
    help: 'a variant for each: name,name,...; with options or scorers: chwbl:load_factor=1.5+key=messages, weighted:queue-depth:1+kv-utilization:2',
  }),
  rate: listFlag<string | null>({
    default: null,
    accepted: 'requests per second with commas between them',
    read: (given) => given,
    defaultText: runWorkloadFlags.rate.defaultText,
    help: 'requests per second; a variant for each: x,x,...',
  }),
};

/** Its values may contain commas of their own. */
const WITH_COMMAS = ['think-time-dist'];

/** Whether a flag can have several values: a variant for each. A flag whose value is a list, a path or nothing cannot. */
export function takesList(name: string, { kind }: Pick<Flag<unknown>, 'kind'>): boolean {
  return !['list', 'file', 'switch'].includes(kind) && !WITH_COMMAS.includes(name);
}

/** The same flags as texts; those of one value may have several, with commas between them. */
function asLists(flags: FlagTable): Record<string, Flag<string | null>> {
  const entries = Object.entries(asTexts(flags)).map(([name, flag]): [string, Flag<string | null>] => {
    if (!takesList(name, flag)) return [name, flag];
    const { names, ...one } = flag;
    const read = (given: string, place: string) => {
      for (const item of given.split(',')) flag.read(item.trim(), place);
      return given;
    };
    // Names are checked one by one, when variants are resolved.
    return [name, { ...one, read, ...(names === undefined ? {} : { suggestions: names }) }];
  });
  return Object.fromEntries(entries);
}

/** The flags of `run` and `replay` that describe a variant, by name. */
export const variantFlags: FlagTable = {
  ...clusterFlags,
  ...flowControlFlags,
  ...instanceFlags,
  ...runWorkloadFlags,
  ...replayWorkloadFlags,
  ...measureFlags,
  ...detectorFlags,
};

/** `--think-time-ms` and `--timeout` are flags of both workloads and mean the same. */
const { 'think-time-ms': _, timeout: __, ...recordedFlags } = replayWorkloadFlags;

export const compareGroups: CommandLine['groups'] = [
  { title: 'Comparison', flags: comparisonFlags },
  { title: 'Execution', flags: { ...executionFlags, ...detachFlags } },
  { title: 'Cluster', flags: { ...asLists(clusterFlags), 'routing-policy': listFlags['routing-policy'] } },
  { title: 'Flow control', flags: asLists(flowControlFlags) },
  { title: 'Instance', flags: asLists(instanceFlags) },
  { title: 'Generated workload', flags: { ...asLists(runWorkloadFlags), rate: listFlags.rate } },
  { title: 'Recorded workload', flags: asLists(recordedFlags) },
  { title: 'Output', flags: { ...asLists({ ...measureFlags, ...detectorFlags }), ...resultFlags } },
];

/** The flags that `run` and `replay` do not have: listed in the documentation of `compare`. */
export const ownCompareGroups: CommandLine['groups'] = [
  { title: 'Comparison', flags: comparisonFlags },
  { title: 'Lists', flags: listFlags },
  { title: 'Execution', flags: { ...executionFlags, ...detachFlags } },
  { title: 'Output', flags: resultFlags },
];
