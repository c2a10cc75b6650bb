import type { LatencyModel } from '../../replica/latency/contract.js';
import { STATUS } from '../../replica/request-outcomes.js';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { simulate } from '../../simulator/simulate.js';
import { closedLoopWorkload } from '../../workload/sessions/trace-session-driver.js';
import type { Workload } from '../../workload/workload.js';
import type { Baseline } from './baseline.js';
import type { RecordedFleet } from './recorded-fleet.js';
import { type MetricRow, metricsOfResponses } from './recorded-metrics.js';

/** Reads of metrics shift against arrivals: the interval differs by this share between the first and the last run. */
const SIGNAL_SPREAD = 0.1;

export interface AskedRun {
  metrics: MetricRow;
  /** Without the calibration of TTFT. */
  plain: MetricRow;
  /** The same as `metrics` with percentiles as low, and as high, as they may be. */
  least: MetricRow;
  most: MetricRow;
  rejected: number;
  perReplica: number[];
  /** Why its latencies say nothing; null where the fleet keeps up. */
  saturated: string | null;
}

/**
 * A run of recorded traffic through a fleet. Runs with other numbers differ as live runs of the same traffic do: ties are drawn again,
 * arrivals shift against the steps of engines by up to a step, and hashes of sessions and blocks, which are not recorded as they were,
 * fall elsewhere.
 */
export function askedRun(
  fleet: RecordedFleet,
  { measured, ttft }: Pick<Baseline, 'measured' | 'ttft'>,
  config: ClusterConfig,
  latency: LatencyModel,
  run: number,
  runs: number,
): AskedRun {
  const spread = 1 + SIGNAL_SPREAD * ((run + 0.5) / runs - 0.5);
  const varied: ClusterConfig = {
    ...config,
    seed: config.seed + run,
    replicaPrefix: `run-${run}-`,
    arrivalJitterUs: Math.round(1000 * (measured.itl_mean_ms || 0)),
    snapshotRefreshUs: Math.round(config.snapshotRefreshUs * spread),
  };
  const { restore, workload } = recordedWorkload(fleet);
  const { document, outcomes, table } = simulate(varied, workload, latency);
  restore();
  const times = { ttftUs: [] as number[], e2eUs: [] as number[], outputTokens: [] as number[] };
  for (let row = 0; row < table.count; row++) {
    const status = outcomes.status[row]!;
    if (status !== STATUS.completed && status !== STATUS.length_capped) continue;
    times.ttftUs.push(outcomes.ttftUs[row]!);
    times.e2eUs.push(outcomes.e2eUs[row]!);
    times.outputTokens.push(outcomes.producedTokens[row]!);
  }
  const { cluster, instances, saturation } = document;
  const calibrated = { ...times, ttftUs: times.ttftUs.map((us) => ttft.measuredUs(us)), itlTtftUs: times.ttftUs };
  const cached = cluster.prompt_cache_hit_rate;
  const refused = cluster.rejected_requests + cluster.gateway_rejected + cluster.gateway_shed + cluster.gateway_expired;
  return {
    metrics: metricsOfResponses(calibrated, cached),
    plain: metricsOfResponses(times, cached),
    least: metricsOfResponses(calibrated, cached, -1),
    most: metricsOfResponses(calibrated, cached, 1),
    rejected: refused / Math.max(1, cluster.generated_requests),
    perReplica: instances.map(({ injected_requests }) => injected_requests),
    saturated: saturation.state === 'saturated' ? saturation.verdict : null,
  };
}

/** The requests as recorded. A run moves arrivals and adds turns: `restore` puts back what it has changed. */
export function recordedWorkload({ isConversation, trace }: RecordedFleet): { workload: Workload; restore(): void } {
  if (isConversation) return { workload: closedLoopWorkload(trace, null, 0), restore: () => {} };
  const { table } = trace;
  const arrivalUs = table.arrivalUs.slice();
  const deadlineUs = table.deadlineUs.slice();
  return {
    workload: { table },
    restore() {
      table.arrivalUs.set(arrivalUs);
      table.deadlineUs.set(deadlineUs);
    },
  };
}
