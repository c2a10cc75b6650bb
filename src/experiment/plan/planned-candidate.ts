import { atReplicas } from '../../report/plan/fleet-cost.js';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import type { LatencyMeasure } from '../metrics.js';
import type { SimulateRuns } from '../run-experiment.js';
import type { LoadSource } from './load-source.js';
import { errorPercent, type StepTimeError } from './model-error.js';
import { type PlanQuestion, planCandidate } from './plan-candidate.js';
import type { PlannedCandidate } from './plan-document.js';
import { fleetGroups, plannedKinds } from './planned-fleet.js';
import { type EvaluationSettings, PointEvaluator } from './point-evaluator.js';
import { isSameMeasure, requestsFor, type Slo } from './slo.js';

/** How many times the usual number of requests a run may grow to. */
const LONGEST = 16;
/** In tables, besides the SLOs. */
const SHOWN: readonly LatencyMeasure[] = [
  { of: 'ttft', at: 50 },
  { of: 'ttft', at: 99 },
  { of: 'itl', at: 'mean' },
  { of: 'e2e', at: 99 },
];

/** @param requests of a run at least; as many as the percentiles need unless given */
export function evaluationSettings(
  slos: readonly Slo[],
  seeds: readonly number[],
  requests = requestsFor(slos),
): EvaluationSettings {
  const measures = [...slos, ...SHOWN.filter((shown) => !slos.some((slo) => isSameMeasure(slo, shown)))];
  return {
    slos,
    measures: measures.map(({ of, at }) => ({ of, at })),
    seeds,
    requests,
    mostRequests: LONGEST * requests,
  };
}

/** A kind of replica, and the load that it is planned for. */
export interface CandidateInputs {
  readonly config: ClusterConfig;
  readonly load: LoadSource;
  readonly settings: EvaluationSettings;
  readonly question: PlanQuestion;
  readonly modelError: StepTimeError | null;
  /** Of a GPU in an hour, by its name in lower case; absent: unknown. */
  readonly prices?: ReadonlyMap<string, number>;
}

/** Plans with one kind of replica, or with a fleet of several. */
export async function plannedCandidate(inputs: CandidateInputs, simulate: SimulateRuns): Promise<PlannedCandidate> {
  const { config, load, modelError, prices = null, question, settings } = inputs;
  const groups = fleetGroups(config).map(({ replica }) => replica);
  const least = (of: (replica: (typeof groups)[number]) => number) => Math.min(...groups.map(of));
  const kinds = plannedKinds(config, prices);
  const plan = await planCandidate(new PointEvaluator(config, load, settings, modelError, simulate), question);
  const { replicas } = plan;
  return {
    gpu: [...new Set(kinds.map(({ gpu }) => gpu))].join(' + '),
    tp: Math.max(...kinds.map(({ tp }) => tp)),
    policy: config.routing.policy,
    gpusPerReplica: atReplicas(kinds, config.instances, ({ gpus }) => gpus)! / config.instances,
    ...(config.fleet === undefined ? {} : { fleet: kinds }),
    maxModelLen: least(({ maxModelLen }) => maxModelLen),
    kvTokens: least(({ blockSize, totalKvBlocks }) => totalKvBlocks * blockSize),
    maxNumSeqs: least(({ maxNumSeqs }) => maxNumSeqs),
    refused: null,
    plan,
    gpus: replicas === null ? null : atReplicas(kinds, replicas, ({ gpus }) => gpus),
    pricePerHour: replicas === null ? null : atReplicas(kinds, replicas, ({ pricePerHour }) => pricePerHour),
    modelErrorPercent:
      modelError === null
        ? null
        : settings.slos.map((slo) => Math.max(...groups.map((replica) => errorPercent(replica, modelError, slo)))),
    modelError: modelError?.why ?? null,
  };
}
