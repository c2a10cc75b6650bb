import { mean } from '../../kernel/percentile.js';
import type { LatencyModel } from '../../replica/latency/contract.js';
import type { Replica } from '../../replica/replica.js';
import type { RequestOutcomes } from '../../replica/request-outcomes.js';
import { STATUS } from '../../replica/request-outcomes.js';
import type { RequestTable } from '../../workload/request-table.js';
import { byName } from '../by-name.js';
import type { Cluster } from '../cluster.js';
import type { ClusterConfig } from '../cluster-config.js';
import type { DecisionTrace } from '../decision-trace.js';
import { fleetSeats } from '../fleet/fleet-replicas.js';
import type { ClientCap, ClusterMetrics, InstanceMetrics, ResultDocument } from '../result-document.js';
import { holBlockingEvents, priorityInversions } from './anomalies.js';
import { classMetrics } from './class-metrics.js';
import { clientLatencies } from './client-latencies.js';
import { fairness } from './fairness.js';
import { fitness } from './fitness.js';
import { goodput } from './goodput.js';
import { latencyNote } from './latency-note.js';
import { p99Ms } from './latency-spread.js';
import { modelMetrics } from './model-metrics.js';
import { RequestSampler, rowsBy } from './request-sample.js';
import { type JudgedRun, saturationOf } from './saturation/run-saturation.js';
import { countStatuses, servingMetrics, sumTotals, totalsOf } from './serving-metrics.js';
import { sessionMetrics } from './session-metrics.js';

/** A completed simulation. */
export interface FinishedRun {
  config: ClusterConfig;
  table: RequestTable;
  outcomes: RequestOutcomes;
  replicas: readonly Replica[];
  cluster: Cluster;
  trace: DecisionTrace | null;
  latency: LatencyModel;
  horizonUs: number;
  /** Requests that were known before it began. */
  knownRows: number;
}

/** Everything that is reported of a run, except how it was called. */
export function documentOf(run: FinishedRun): Omit<ResultDocument, 'config' | 'requests'> {
  const { config, table, outcomes, replicas, cluster, trace, latency, horizonUs } = run;
  const totals = replicas.map((replica) => totalsOf(replica, horizonUs));
  const overhead = latency.outputTokenUs;
  const sampler = new RequestSampler(outcomes, table.count);
  const rowsOf = rowsBy(outcomes.instance.subarray(0, table.count), replicas.length);
  const instances: InstanceMetrics[] = totals.map((part, i) => ({
    instance_id: `instance_${i}`,
    ...servingMetrics(part, sampler.sample(rowsOf[i]!), overhead),
  }));
  const all = sampler.sample(null);
  const serving = servingMetrics(sumTotals(totals), all, overhead);
  const count = countStatuses(outcomes.status, table.count);
  const clusterMetrics: ClusterMetrics = {
    generated_requests: table.count,
    not_arrived: count('not_arrived'),
    in_pipeline: count('in_pipeline'),
    rejected_requests: count('rejected'),
    routing_rejected: count('routing_rejected'),
    gateway_queued: count('gateway_queued'),
    gateway_rejected: count('gateway_rejected'),
    gateway_shed: count('gateway_shed'),
    gateway_expired: count('gateway_expired'),
    gateway_evicted: 0,
    ...serving,
    ...clientLatencies(table, outcomes),
  };
  const good = goodput(table, outcomes, sampler, config.goodputTargets, serving.duration_s);
  const fit = fitness(config.fitnessWeights, serving);
  const sessions = sessionMetrics(table, outcomes);
  const client = clientCap(config.maxInFlight, outcomes, table.count);
  const saturation = saturationOf(judgedRun(run, serving.duration_s));
  const models = modelMetrics(table, outcomes, sampler, config.replica.model);
  return {
    cluster: clusterMetrics,
    instances,
    slo: classMetrics(table, sampler, all),
    fairness: fairness(table, outcomes),
    ...(good === undefined ? {} : { goodput: good }),
    ...(fit === undefined ? {} : { fitness: fit }),
    ...(sessions === undefined ? {} : { sessions }),
    ...(trace === null || !config.summarizeTrace ? {} : { decisions: trace.summary(cluster.reasons) }),
    anomalies: {
      priority_inversions: priorityInversions(table, outcomes, replicas.length, config.replica.scheduler),
      hol_blocking_events: holBlockingEvents(replicas),
      shed: Object.fromEntries([...cluster.shed].sort(byName)),
      rejections: Object.fromEntries([...cluster.reasons].sort(byName)),
    },
    ...(models === undefined ? {} : { models }),
    ...(client === undefined ? {} : { client }),
    saturation,
    latency: latencyNote(config, replicas, saturation.state === 'saturated'),
  };
}

/** The part of a run that saturation depends on. */
export function judgedRun({ config, knownRows, outcomes, table }: FinishedRun, durationS: number): JudgedRun {
  const places = fleetSeats(config);
  return { table, outcomes, knownRows, endUs: durationS * 1e6, places, detectors: config.detectors };
}

/** How the client's cap on requests in flight held requests back; undefined when it has none. */
function clientCap(
  maxInFlight: number | undefined,
  { clientWaitUs, status }: RequestOutcomes,
  requests: number,
): ClientCap | undefined {
  if (maxInFlight === undefined || clientWaitUs === null) return undefined;
  const waits = clientWaitUs
    .subarray(0, requests)
    .filter((_, row) => status[row] !== STATUS.not_arrived)
    .sort();
  return {
    max_in_flight: maxInFlight,
    held_requests: waits.filter((us) => us > 0).length,
    wait_mean_ms: waits.length === 0 ? 0 : mean(waits) / 1000,
    wait_p99_ms: p99Ms(waits),
    latencies_from: 'sending',
  };
}
