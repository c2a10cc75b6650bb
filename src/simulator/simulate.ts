import { HostedQueue } from '../policy/host/hosted-queue.js';
import type { PolicyHost } from '../policy/host/policy-host.js';
import type { PredictorSource } from '../policy/latency-predictor.js';
import type { LatencyModel } from '../replica/latency/contract.js';
import { Replica } from '../replica/replica.js';
import type { ReplicaRequests } from '../replica/replica-requests.js';
import { RequestOutcomes } from '../replica/request-outcomes.js';
import { arrivalOrder } from '../workload/arrival-order.js';
import { delayArrivals } from '../workload/delay-arrivals.js';
import { PromptKeys } from '../workload/prompt-keys.js';
import type { RequestTable } from '../workload/request-table.js';
import type { Workload } from '../workload/workload.js';
import { Cluster } from './cluster.js';
import type { ClusterConfig } from './cluster-config.js';
import { DecisionTrace } from './decision-trace.js';
import { fleetReplicas } from './fleet/fleet-replicas.js';
import { GatewayRouters, type RequestRouter } from './gateway-routers.js';
import { replicaPredictors } from './prediction/replica-predictors.js';
import { TrueTimes } from './prediction/true-times.js';
import type { RequestResult, ResultDocument } from './result-document.js';
import { documentOf, judgedRun } from './results/document.js';
import { requestResults } from './results/request-results.js';
import type { DetectorChange } from './results/saturation/detectors/run-detectors.js';
import { detectorChanges } from './results/saturation/run-saturation.js';
import { createHost, Router } from './router.js';

/** What a caller may watch while a simulation runs. */
export interface SimulationWatch {
  /** Called now and then with how many of the known requests have arrived. */
  progress?(arrived: number, known: number): void;
  /** Gets one JSON line per decision (`--decisions-path`); needs trace level 'decisions'. */
  decision?(line: string): void;
  /** By row, as many as the table may come to have: gets the prompt tokens that a cache held. */
  cachedTokens?: Int32Array;
}

export interface SimulationResult {
  /** Without `config` and `requests`: the caller knows where the workload came from. */
  document: Omit<ResultDocument, 'config' | 'requests'>;
  table: RequestTable;
  outcomes: RequestOutcomes;
  /** One entry per request that exists, in arrival order. */
  requests(): RequestResult[];
  /** Every change of what the detectors of saturation said; empty without detectors. */
  detectorChanges(): DetectorChange[];
}

/**
 * Runs a workload through a cluster. Same inputs, same result, to the bit. Sessions append their later turns to the table, and
 * jitter and a client with a cap on requests in flight move its arrivals: such a workload is used up by its run.
 */
export function simulate(
  config: ClusterConfig,
  workload: Workload,
  latency: LatencyModel,
  watch: SimulationWatch = {},
): SimulationResult {
  const { table } = workload;
  if (config.arrivalJitterUs !== undefined) delayArrivals(table, config.arrivalJitterUs, config.seed);
  const horizonUs = config.horizonUs ?? Number.POSITIVE_INFINITY;
  const knownRows = table.count;
  const outcomes = new RequestOutcomes(table.count, config.instances);
  const keys = new PromptKeys(table, config.replica.blockSize);
  let truth: TrueTimes | null = null;
  const fleet = fleetReplicas(config, latency);
  const predictors = replicaPredictors(fleet, () => truth);
  const host = createHost(config, predictors);
  const { priorities } = host;
  const requests: ReplicaRequests = {
    table,
    outcomes,
    keys,
    ...(watch.cachedTokens === undefined ? {} : { cachedTokens: watch.cachedTokens }),
    urgency: (row) => priorities.maxPriority - priorities.priorityOf(table.sloClasses.name(table.sloClass[row]!)),
  };

  const queue = config.flowControl === null ? null : new HostedQueue(config.flowControl, priorities);
  if (queue !== null) outcomes.recordGatewayWaits();
  if (config.maxInFlight !== undefined) outcomes.recordClientWaits();
  const traced = config.traceLevel === 'decisions';
  const trace = traced ? new DecisionTrace(config.instances, config.counterfactualK, watch.decision) : null;

  // Replicas report events to the cluster, and the cluster is built from replicas: the events are bound late.
  let cluster: Cluster;
  const events = {
    firstToken: (row: number, atUs: number) => cluster.firstToken(row, atUs),
    left: (row: number, completed: boolean, atUs: number) => cluster.left(row, completed, atUs),
  };
  if (host.policies.reads.has('truth')) {
    truth = new TrueTimes(fleet, requests);
    host.prediction.refresh();
  }
  const replicas = fleet.map(({ config: one, scaled }) => new Replica(one, scaled, requests, events, horizonUs));
  const newKeys = (blockSize: number) =>
    blockSize === config.replica.blockSize ? keys : new PromptKeys(table, blockSize);
  const router = routerOf(
    config,
    host,
    (one) => new Router(config, one, table, newKeys, replicas, truth),
    table,
    predictors,
  );
  const looks = traced || host.looksAtFleet || queue?.readsFleet === true || config.routingSwitch !== undefined;
  cluster = new Cluster(config, workload, {
    replicas,
    router,
    outcomes,
    queue,
    trace,
    looks,
    progress: watch.progress?.bind(watch),
  });
  cluster.run();

  const run = { config, table, outcomes, replicas, cluster, trace, latency, horizonUs, knownRows };
  const document = documentOf(run);
  return {
    document,
    table,
    outcomes,
    requests: () => requestResults(table, outcomes, arrivalOrder(table), config.replica.model),
    detectorChanges: () => detectorChanges(judgedRun(run, document.cluster.duration_s)),
  };
}

/** The router of one gateway, or of several. The random streams of further gateways are their own. */
function routerOf(
  config: ClusterConfig,
  host: PolicyHost,
  newRouter: (host: PolicyHost) => Router,
  table: RequestTable,
  predictors: PredictorSource,
): RequestRouter {
  const { gateways = 1, seed } = config;
  if (gateways === 1) return newRouter(host);
  const others = Array.from({ length: gateways - 1 }, (_, i) =>
    createHost({ ...config, seed: seed + i + 1 }, predictors),
  );
  return new GatewayRouters([host, ...others].map(newRouter), table);
}
