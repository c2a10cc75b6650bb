import { comparisonFlags } from '../compare/compare-flags.js';
import type { ExperimentFile } from '../compare/experiment-file.js';
import { executionFlags, type ResultFlags, resultFlags } from '../execution/execution-flags.js';
import { clusterFlags } from '../flags/cluster-flags.js';
import type { CommandLine } from '../flags/command-line.js';
import { asTexts, type Flag, type FlagTable } from '../flags/flag.js';
import { flowControlFlags } from '../flags/flow-control-flags.js';
import { instanceFlags } from '../flags/instance-flags.js';
import { choiceFlag, count, file, listFlag } from '../flags/kinds.js';
import { detectorFlags } from '../flags/output-flags.js';
import { FLEET_GRAMMAR, type FleetKind, readFleet } from '../flags/read-list.js';
import { gpuNames, routingPolicyNames } from '../flags/registered-names.js';
import { replayWorkloadFlags } from '../flags/replay-workload-flags.js';
import { runWorkloadFlags } from '../flags/run-workload-flags.js';
import { gatewayPlanFlags } from './gateway-flags.js';
import { readCounts, readNames, readRates, readSlos, type WantedRate } from './read-plan-values.js';

const sloFlag = (of: 'ttft' | 'itl' | 'tpot' | 'e2e', help: string, example: string) =>
  listFlag({
    default: [],
    placeholder: 'slo',
    accepted: `a statistic and a duration, as in '${example}'`,
    read: (text: string, place: string) => readSlos(of, text, place),
    help: `${help}: ${example}`,
  });

/** What the fleet has to keep, and what may be chosen. */
export const planFlags = {
  'slo-ttft': sloFlag('ttft', 'longest time to first token', 'p99=500ms'),
  'slo-itl': sloFlag('itl', 'longest gap between tokens', 'mean=30ms'),
  'slo-tpot': sloFlag('tpot', 'longest mean gap of a request', 'p95=40ms'),
  'slo-e2e': sloFlag('e2e', 'longest time to the last token', 'p95=10s'),
  rate: listFlag<WantedRate[] | null>({
    default: null,
    accepted: "requests per second, or times the recorded rate as in '3x'; several with commas between them",
    read: readRates,
    defaultText: 'as recorded or specified',
    help: "requests per second, or '3x': three times what was recorded; further ones are points of the load curve",
  }),
  'num-instances': count({
    default: null,
    min: 1,
    max: 100_000,
    defaultText: 'as few as possible',
    help: 'replicas of the fleet: finds the greatest load that it keeps',
  }),
  fleet: listFlag<FleetKind[] | null>({
    default: null,
    accepted: FLEET_GRAMMAR,
    read: readFleet,
    help: 'a fleet of several kinds, GPUs or latency profiles, 2*H100,4*L4:2,slow.json: finds the greatest load that it keeps',
  }),
  'max-instances': count({ default: 256, min: 1, max: 10_000, help: 'replicas at most' }),
  gpu: {
    ...listFlag<string[] | null>({
      default: null,
      accepted: 'GPU types with commas between them',
      read: readNames,
      defaultText: "the model's",
      suggestions: gpuNames,
      help: 'GPU types to choose from: H100,H200',
    }),
    aliases: ['hardware'],
  },
  tp: listFlag<number[] | null>({
    default: null,
    accepted: 'whole numbers with commas between them',
    read: readCounts,
    defaultText: "the model's",
    help: 'how many GPUs a model may be split over: 1,2,4',
  }),
  'routing-policy': {
    ...listFlag<string[] | null>({
      default: null,
      accepted: 'names of routing policies with commas between them',
      read: readNames,
      defaultText: clusterFlags['routing-policy'].defaultText,
      suggestions: routingPolicyNames,
      help: 'routing policies to choose from',
    }),
    aliases: ['policy'],
  },
  prices: file({ help: 'prices of GPUs, a YAML file: then the cheapest fleet is chosen' }),
};

const samplingFlags = {
  seeds: {
    ...comparisonFlags.seeds,
    defaultText: '5',
    help: 'number of seeds, from 42 on; every point runs with each',
  },
  seed: comparisonFlags.seed,
  'num-requests': count({
    default: null,
    min: 100,
    max: 10_000_000,
    defaultText: '2000; more for percentiles above 99',
    help: 'requests of a run at least: runs are lengthened where that is too few',
  }),
};

const evaluationFlags = { ...samplingFlags, ...executionFlags };

const arrivalFlag = {
  arrival: choiceFlag({
    default: 'poisson',
    known: ['poisson', 'constant'],
    help: 'how requests of the flags arrive, at random or evenly',
  }),
};

/** A file with `kind: Plan`. */
export const PLAN_FILE: ExperimentFile = { kind: 'Plan', own: { ...planFlags, ...samplingFlags, ...arrivalFlag } };

/** Flags of `run` and `replay` that a plan sets itself, or that have no meaning for a steady load. */
const OWN: readonly string[] = [
  ...Object.keys(planFlags),
  ...['hardware', 'slow-factors', 'num-requests', 'concurrency', 'think-time-ms', 'session-mode', 'think-time-dist'],
  'decisions',
];

function others(flags: FlagTable): Record<string, Flag<string | null>> {
  return asTexts(Object.fromEntries(Object.entries(flags).filter(([name]) => !OWN.includes(name))));
}

const { timeout: _, ...recorded } = replayWorkloadFlags;

/** Flags that describe the fleet and the traffic, as `run` and `replay` have them. */
export const plannedFleetFlags = {
  ...others(clusterFlags),
  ...others(flowControlFlags),
  ...others(instanceFlags),
  ...others(runWorkloadFlags),
  ...others(recorded),
  ...others(detectorFlags),
};

export type PlanFlags = typeof planFlags &
  typeof gatewayPlanFlags &
  typeof evaluationFlags &
  typeof arrivalFlag &
  ResultFlags;

export const ownPlanGroups: CommandLine['groups'] = [
  { title: 'Plan', flags: planFlags },
  { title: 'Recorded by a gateway', flags: gatewayPlanFlags },
  { title: 'Evaluation', flags: { ...evaluationFlags, ...arrivalFlag } },
  { title: 'Output', flags: resultFlags },
];

export const planGroups: CommandLine['groups'] = [
  { title: 'Plan', flags: planFlags },
  { title: 'Recorded by a gateway', flags: gatewayPlanFlags },
  { title: 'Recorded traffic', flags: others(recorded) },
  { title: 'Generated traffic', flags: { ...others(runWorkloadFlags), ...arrivalFlag } },
  { title: 'Replica', flags: others(instanceFlags) },
  { title: 'Cluster', flags: others(clusterFlags) },
  { title: 'Flow control', flags: others(flowControlFlags) },
  { title: 'Evaluation', flags: { ...evaluationFlags, ...others(detectorFlags) } },
  { title: 'Output', flags: resultFlags },
];
