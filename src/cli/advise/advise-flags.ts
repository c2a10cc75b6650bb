import { WHAT_IF_METRICS, type WhatIfMetric } from '../../twin/whatif/recorded-metrics.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import type { FlagGroup } from '../flags/flag.js';
import { choiceFlag, count, listFlag, stringFlag, timeFlag, toggle } from '../flags/kinds.js';
import { readDuration } from '../flags/read-list.js';
import { gpuNames, routingPolicyNames } from '../flags/registered-names.js';
import { GUARD_EXAMPLE, type Guard, guardNames, readGuard } from './read-guard.js';

/** `ttft_p90_ms` as the flag spells it: `ttft-p90`. */
const spelled = (metric: WhatIfMetric) => metric.replace(/_ms$/, '').replaceAll('_', '-');

/** The metric of the API that the flag names. */
export const adviceMetric = (given: string): WhatIfMetric => WHAT_IF_METRICS.find((one) => spelled(one) === given)!;

const DAY_US = 86_400_000_000;
const TEN_MINUTES_US = 600_000_000;
const DURATION = "a duration with its unit, as in '30m' or '24h'";

const { server, ...accessFlags } = serverFlags;

const adviceFlags = {
  gateway: {
    ...server,
    aliases: ['server'],
    help: 'admin address of the gateway whose traffic is simulated',
  },
  endpoint: {
    ...stringFlag({
      default: null,
      placeholder: 'name',
      defaultText: 'the only one of the gateway',
      help: 'endpoint whose policy is advised about',
    }),
    letter: 'e',
  },
  ...workspaceFlags,
  last: listFlag<number>({
    default: DAY_US,
    defaultText: '24h',
    placeholder: 'duration',
    accepted: DURATION,
    read: readDuration,
    help: 'only requests of this time up to --to',
  }),
  to: timeFlag({ defaultText: 'now', help: 'only requests that arrived before' }),
  metric: choiceFlag({
    default: 'ttft-p90',
    known: WHAT_IF_METRICS.map(spelled),
    help: 'what should become better',
  }),
  policies: listFlag<readonly string[] | null>({
    default: null,
    placeholder: 'names',
    defaultText: 'all',
    accepted: 'names of routing policies with commas between them',
    read: (text) => text.split(',').map((name) => name.trim()),
    suggestions: routingPolicyNames,
    help: 'routing policies to choose from: name,name,...',
  }),
  runs: count({ default: null, min: 5, max: 100, defaultText: '7', help: 'simulations that estimate chance' }),
};

const engineFlags = {
  model: stringFlag({
    default: null,
    placeholder: 'name',
    defaultText: "that of the endpoint's latency profile, else the one it serves",
    help: 'model of the catalogue that the engines serve',
  }),
  hardware: stringFlag({
    default: null,
    placeholder: 'gpu',
    defaultText: 'the usual one of the model',
    suggestions: gpuNames,
    help: 'GPU type of the engines',
  }),
  tp: count({ default: null, min: 1, max: 1024, defaultText: 'as usual for the model', help: 'GPUs of a replica' }),
};

const switchFlags = {
  apply: toggle({ help: 'switch to the advised policy, watch it, and go back if it is worse' }),
  guard: listFlag<Guard>({
    default: { metric: 'ttft_p90', most: 0.1 },
    defaultText: 'ttft-p90:+10%',
    placeholder: 'metric:bound',
    accepted: GUARD_EXAMPLE,
    read: readGuard,
    suggestions: async () => guardNames.map((name) => `${name}:+10%`),
    help: `when to go back: how much worse than before the switch a metric may become, errors in points (${guardNames.join(', ')})`,
  }),
  watch: listFlag<number>({
    default: TEN_MINUTES_US,
    defaultText: '10m',
    placeholder: 'duration',
    accepted: DURATION,
    read: readDuration,
    help: 'how long it is watched; compared with as long a time before',
  }),
};

const outputFlags = {
  output: { ...choiceFlag({ default: 'table', known: ['table', 'json'], help: 'output format' }), letter: 'o' },
};

export const adviseGroups: readonly FlagGroup[] = [
  { title: 'Advice', flags: adviceFlags },
  { title: 'Engines', flags: engineFlags },
  { title: 'Switch', flags: switchFlags },
  { title: 'Access to the gateway', flags: accessFlags },
  { title: 'Output', flags: outputFlags },
];

export type AdviseFlags = typeof adviceFlags &
  typeof engineFlags &
  typeof switchFlags &
  typeof accessFlags &
  typeof outputFlags;
