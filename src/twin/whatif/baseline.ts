import { replayTrace } from '../../observe/fit/traces/replay-trace.js';
import type { LatencyModel } from '../../replica/latency/contract.js';
import { scaledLatency } from '../../replica/latency/latency-range.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import { detectSaturation } from '../../simulator/results/saturation/saturation.js';
import { TtftCalibration } from './engines/ttft-calibration.js';
import { enginesOf, type RecordedFleet } from './recorded-fleet.js';
import { type MetricRow, metricsOfResponses, WHAT_IF_METRICS } from './recorded-metrics.js';
import type { BaselineMetric } from './whatif-document.js';

/** Beyond these the profile describes other engines, or blocks do not show what caches hold. */
const MOST_E2E_ERROR = 0.25;
const MOST_TTFT_ERROR = 0.5;
const MOST_CACHED_ERROR = 0.1;

/** The recording as measured, and as simulated with every request on the replica that served it. */
export interface Baseline {
  measured: MetricRow;
  simulated: MetricRow;
  metrics: BaselineMetric[];
  ttft: TtftCalibration;
  /** Simulated, with the calibration of TTFT: what other runs are compared with. */
  calibrated: MetricRow;
  /** Why differences cannot be claimed; null where they can. */
  refused: string | null;
}

/** @param speeds of unlike replicas, by replica: how many times as long their steps take */
export function checkBaseline(
  fleet: RecordedFleet,
  replica: ReplicaModelConfig,
  latency: LatencyModel,
  speeds: readonly number[] | null = null,
): Baseline {
  const measured = measuredMetrics(fleet);
  const latencyOf = (engine: number) => (speeds === null ? latency : scaledLatency(latency, speeds[engine]!));
  const { cachedShare, measuredTtftUs, times, waitedUs } = replayed(fleet, replica, latencyOf);
  const ttft = new TtftCalibration(times.ttftUs, measuredTtftUs);
  const waited = (us: readonly number[]) => us.map((value, i) => value + waitedUs[i]!);
  const fromArrival = { ...times, ttftUs: waited(times.ttftUs), e2eUs: waited(times.e2eUs) };
  const simulated = metricsOfResponses(fromArrival, cachedShare);
  const calibratedUs = waited(times.ttftUs.map((us) => ttft.measuredUs(us)));
  const calibrated = metricsOfResponses(
    { ...fromArrival, ttftUs: calibratedUs, itlTtftUs: fromArrival.ttftUs },
    cachedShare,
  );
  const metrics = WHAT_IF_METRICS.filter((metric) => !Number.isNaN(measured[metric])).map((metric): BaselineMetric => {
    const [was, now] = [measured[metric], simulated[metric]];
    return { metric, measured: was, simulated: now, error: metric === 'cached_share' ? now - was : now / was - 1 };
  });
  const refused = saturated(fleet) ?? tooFarOff(fleet, metrics);
  return { measured, simulated, metrics, ttft, calibrated, refused };
}

export function measuredMetrics({ answered, trace }: RecordedFleet): MetricRow {
  const { observed, table } = trace;
  let cached = 0;
  let input = 0;
  for (const row of answered) {
    if (observed.cachedTokens[row]! < 0) continue;
    cached += observed.cachedTokens[row]!;
    input += table.inputTokens[row]!;
  }
  const column = (values: ArrayLike<number>) => Array.from(answered, (row) => values[row]!);
  const times = {
    ttftUs: column(observed.ttftUs),
    e2eUs: column(observed.e2eUs),
    outputTokens: column(table.outputTokens),
  };
  return metricsOfResponses(times, input === 0 ? Number.NaN : cached / input);
}

/** The recording as simulated, every request on the replica that served it. */
function replayed(fleet: RecordedFleet, replica: ReplicaModelConfig, latencyOf: (engine: number) => LatencyModel) {
  const times: Record<'ttftUs' | 'e2eUs' | 'outputTokens', number[]> = { ttftUs: [], e2eUs: [], outputTokens: [] };
  const measuredTtftUs: number[] = [];
  const waitedUs: number[] = [];
  let cached = 0;
  let input = 0;
  for (const [i, engine] of enginesOf(fleet, replica).entries()) {
    const run = replayTrace(engine, latencyOf(i));
    for (let row = 0; row < engine.table.count; row++) {
      if (!(engine.ttftUs[row]! > 0 && run.e2eUs[row]! > 0)) continue;
      measuredTtftUs.push(engine.ttftUs[row]! + fleet.routingUs);
      times.ttftUs.push(run.ttftUs[row]! + fleet.routingUs);
      times.e2eUs.push(run.e2eUs[row]! + fleet.routingUs);
      // What it waited in the gateway: measured latencies begin at the arrival.
      waitedUs.push(engine.dispatchUs[row]! - fleet.routingUs);
      times.outputTokens.push(engine.table.outputTokens[row]!);
      cached += run.cachedTokens[row]!;
      input += engine.table.inputTokens[row]!;
    }
  }
  return { times, measuredTtftUs, waitedUs, cachedShare: cached / input };
}

/** Where a backlog grew, latencies depend on how long the recording is. */
function saturated({ answered, trace }: RecordedFleet): string | null {
  const { observed, table } = trace;
  const arrivalUs = Float64Array.from(answered, (row) => table.arrivalUs[row]!);
  const e2eUs = Float64Array.from(answered, (row) => observed.e2eUs[row]!);
  const found = detectSaturation({
    arrivalUs,
    ttftUs: Float64Array.from(answered, (row) => observed.ttftUs[row]!),
    e2eUs,
    arrivalsEndUs: arrivalUs.reduce((last, us) => Math.max(last, us), 0),
    endUs: arrivalUs.reduce((last, us, i) => Math.max(last, us + e2eUs[i]!), 0),
    places: Number.POSITIVE_INFINITY,
  });
  if (found.state !== 'saturated') return null;
  return 'the recorded fleet was saturated: its backlog grew, and latencies depend on how long that lasted. Record at a load that it keeps up with';
}

/** Why the profile, or the recorded blocks, do not describe the engines; null where they do. */
export function tooFarOff({ trace }: RecordedFleet, metrics: readonly BaselineMetric[]): string | null {
  const errorOf = (wanted: string) => metrics.find(({ metric }) => metric === wanted)?.error ?? 0;
  const percent = (share: number) => `${share > 0 ? '+' : ''}${(100 * share).toFixed(0)} %`;
  const [e2e, ttft, cached] = [errorOf('e2e_mean_ms'), errorOf('ttft_mean_ms'), errorOf('cached_share')];
  if (Math.abs(cached) > MOST_CACHED_ERROR) {
    const { blocks } = trace.table;
    const seen = blocks === null ? 'no blocks were recorded' : `blocks of ${blocks.blockTokens} tokens were recorded`;
    const points = `${Math.abs(100 * cached).toFixed(0)} points ${cached > 0 ? 'more' : 'less'}`;
    return `the recording does not show what caches held: ${seen}, and simulated caches find ${points} of the prompts. Record with the block size of the engines (\`block_size\` of the policy)`;
  }
  if (Math.abs(e2e) <= MOST_E2E_ERROR && Math.abs(ttft) <= MOST_TTFT_ERROR) return null;
  return `the profile does not describe these engines: simulated as recorded, E2E is ${percent(e2e)} and TTFT ${percent(ttft)} off. Fit one to the recording, or give that of these engines`;
}
