import type { LatencyModel } from '../../replica/latency/contract.js';
import { STATUS } from '../../replica/request-outcomes.js';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { simulate } from '../../simulator/simulate.js';
import type { Workload } from '../../workload/workload.js';
import type { Baseline } from './baseline.js';
import type { RecordedFleet } from './recorded-fleet.js';
import { type MetricRow, metricsOfResponses } from './recorded-metrics.js';
import { RecordedTurnDriver } from './recording/recorded-turns.js';

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
  const varied: ClusterConfig = {
    ...config,
    seed: config.seed + run,
    replicaPrefix: `run-${run}-`,
    arrivalJitterUs: Math.round(1000 * (measured.itl_mean_ms || 0)),
    // Reads of metrics shift against arrivals.
    signalPhaseUs: Math.round((config.snapshotRefreshUs * (run + 0.5)) / runs),
  };
  const { recordOf, restore, workload } = recordedWorkload(fleet);
  const cachedTokens = new Int32Array(fleet.trace.table.count);
  const { document, outcomes, table } = simulate(varied, workload, latency, { cachedTokens });
  restore();
  const times = { ttftUs: [] as number[], e2eUs: [] as number[], outputTokens: [] as number[] };
  const perReplica = new Array<number>(config.instances).fill(0);
  let cachedSum = 0;
  let input = 0;
  for (let row = 0; row < table.count; row++) {
    const record = recordOf(row);
    if (record >= fleet.warmUp && outcomes.instance[row]! >= 0) perReplica[outcomes.instance[row]!]!++;
    const status = outcomes.status[row]!;
    if (status !== STATUS.completed && status !== STATUS.length_capped) continue;
    // What was measured is of the same requests.
    if (fleet.isAnswered[record] === 0) continue;
    times.ttftUs.push(outcomes.ttftUs[row]!);
    times.e2eUs.push(outcomes.e2eUs[row]!);
    times.outputTokens.push(outcomes.producedTokens[row]!);
    cachedSum += cachedTokens[row]!;
    input += table.inputTokens[row]!;
  }
  const { cluster, saturation } = document;
  const calibrated = { ...times, ttftUs: times.ttftUs.map((us) => ttft.measuredUs(us)), itlTtftUs: times.ttftUs };
  const cached = cachedSum / Math.max(1, input);
  const refused = cluster.rejected_requests + cluster.gateway_rejected + cluster.gateway_shed + cluster.gateway_expired;
  return {
    metrics: metricsOfResponses(calibrated, cached),
    plain: metricsOfResponses(times, cached),
    least: metricsOfResponses(calibrated, cached, -1),
    most: metricsOfResponses(calibrated, cached, 1),
    rejected: refused / Math.max(1, cluster.generated_requests),
    perReplica,
    saturated: saturation.state === 'saturated' ? saturation.verdict : null,
  };
}

/** Recorded requests as a workload. A run moves arrivals and adds turns. */
export interface RecordedWorkload {
  workload: Workload;
  /** The recorded row of a row of the workload. */
  recordOf(row: number): number;
  /** Puts back what a run has changed. */
  restore(): void;
}

export function recordedWorkload({ trace, turns }: RecordedFleet): RecordedWorkload {
  const { table } = trace;
  if (turns !== null) {
    const sessions = new RecordedTurnDriver(table, turns);
    const workload = { table: sessions.firstTurns(), sessions };
    return { workload, recordOf: (row) => sessions.records[row]!, restore: () => {} };
  }
  const arrivalUs = table.arrivalUs.slice();
  const deadlineUs = table.deadlineUs.slice();
  return {
    workload: { table },
    recordOf: (row) => row,
    restore() {
      table.arrivalUs.set(arrivalUs);
      table.deadlineUs.set(deadlineUs);
    },
  };
}
