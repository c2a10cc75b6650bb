import type { ClusterConfig } from '../../simulator/cluster-config.js';
import type { LatencyMeasure } from '../metrics.js';
import type { SimulateRuns } from '../run-experiment.js';
import type { LoadSource } from './load-source.js';
import { errorPercent, type StepTimeError } from './model-error.js';
import { type PlanQuestion, planCandidate } from './plan-candidate.js';
import type { PlannedCandidate } from './plan-document.js';
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
  /** Of a GPU in an hour. */
  readonly price?: number;
}

/** Plans with one kind of replica. */
export async function plannedCandidate(inputs: CandidateInputs, simulate: SimulateRuns): Promise<PlannedCandidate> {
  const { config, load, modelError, price, question, settings } = inputs;
  const { replica } = config;
  const plan = await planCandidate(new PointEvaluator(config, load, settings, modelError, simulate), question);
  const gpusPerReplica = replica.tp * replica.dp;
  const gpus = plan.replicas === null ? null : plan.replicas * gpusPerReplica;
  return {
    ...{ gpu: replica.hardware, tp: replica.tp, policy: config.routing.policy, gpusPerReplica },
    ...{ maxModelLen: replica.maxModelLen, kvTokens: replica.totalKvBlocks * replica.blockSize },
    maxNumSeqs: replica.maxNumSeqs,
    refused: null,
    plan,
    gpus,
    pricePerHour: gpus === null || price === undefined ? null : Number((gpus * price).toFixed(4)),
    modelErrorPercent: modelError === null ? null : settings.slos.map((slo) => errorPercent(replica, modelError, slo)),
    modelError: modelError?.why ?? null,
  };
}
