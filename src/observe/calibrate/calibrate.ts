import type { TraceGoodputTarget } from '../../workload/trace.js';
import {
  type Calibration,
  type CalibrationDocument,
  type CalibrationPoints,
  COMPARED_METRICS,
  KNOWN_LIMITATIONS,
  type MetricName,
  type ToleranceName,
  type ToleranceVerdict,
} from './calibration.js';
import { calibrationNotes } from './calibration-notes.js';
import { compareFailures } from './compare/compare-failures.js';
import { compareGoodput } from './compare/compare-goodput.js';
import { compareHitRate } from './compare/compare-hit-rate.js';
import { compareMetric, LEAST_TO_JUDGE, type MetricComparison } from './compare/compare-metric.js';
import { predictionInterval } from './compare/prediction-interval.js';
import { compareWithRepeat, type Repeatability, USUAL_REPEATABILITY } from './compare/repeatability.js';
import type { MeasuredRequest, PredictedRequest } from './measured-request.js';
import { type Network, pairRequests } from './pair-requests.js';
import { type RecordedChunks, tokenGaps } from './token-gaps.js';

export interface CalibrationInputs {
  measured: readonly MeasuredRequest[];
  predicted: readonly PredictedRequest[];
  /** Null: gaps follow from the first and the last token. */
  chunkTimes: RecordedChunks | null;
  /** Prompt tokens found in caches; null where one of the sides does not report it. */
  hitRates: { real: { rate: number; source: string }; sim: number } | null;
  /** The file of results, for errors. */
  place: string;
  /** What is known of the trace before anything is compared, a sentence each. */
  notes: readonly string[];
  /** What a repeat of the same run differed; null: what it usually does. */
  repeat?: { source: string; shares: Readonly<Partial<Record<MetricName, Repeatability>>> } | null;
  /** The most requests that the client of the trace had in flight; undefined: unknown, or any number. */
  maxInFlight?: number | undefined;
}

export interface CalibrationOptions {
  network: Network;
  /** Requests with lower numbers are left out. */
  warmUp: number;
  ttftMapeThreshold: number;
  hitRateTolerancePp: number;
  /** Largest errors that are accepted, as shares. */
  tolerances: Partial<Record<ToleranceName, number>>;
  goodputTargets: Readonly<Record<string, TraceGoodputTarget>>;
}

/** Compares a prediction with what was measured. */
export function calibrate(inputs: CalibrationInputs, options: CalibrationOptions): Calibration {
  const { chunkTimes, hitRates, measured, place, predicted } = inputs;
  const paired = pairRequests(measured, predicted, options, place);
  const { pairs, unmatched } = paired;
  pairs.sort((a, b) => a.measured.sentUs - b.measured.sentUs || a.measured.id - b.measured.id);
  const gaps = tokenGaps(pairs, chunkTimes);
  const values: Record<MetricName, [real: Float64Array, sim: Float64Array]> = {
    ttft: [Float64Array.from(pairs, (pair) => pair.measured.ttftUs), Float64Array.from(pairs, (pair) => pair.ttftUs)],
    e2e: [Float64Array.from(pairs, (pair) => pair.measured.e2eUs), Float64Array.from(pairs, (pair) => pair.e2eUs)],
    itl: [gaps.real, gaps.sim],
  };
  const metrics: CalibrationDocument['metrics'] = {};
  const points: CalibrationPoints['metrics'] = {};
  for (const name of COMPARED_METRICS) {
    const [real, sim] = withBoth(...values[name]);
    if (real.length === 0) continue;
    const repeat = inputs.repeat?.shares[name] ?? USUAL_REPEATABILITY[name];
    const interval = predictionInterval(name, real, sim, repeat);
    metrics[name] = {
      ...compareMetric(real, sim),
      against_repeat: compareWithRepeat(real, sim, repeat, LEAST_TO_JUDGE),
      ...(interval === null ? {} : { interval }),
    };
    points[name] = { realMs: values[name][0].map((us) => us / 1000), simMs: values[name][1].map((us) => us / 1000) };
  }
  const failures = compareFailures(paired.both);
  const goodput = compareGoodput(pairs, gaps, options.goodputTargets);
  const ttftMape = metrics.ttft!.request_level.mape;
  const document: CalibrationDocument = {
    trace_info: {
      num_requests: paired.requests,
      warm_up_excluded: paired.warmUp,
      matched_pairs: pairs.length,
      token_mismatches: paired.tokenMismatches,
      ...(chunkTimes === null ? {} : { itl_dropped: gaps.dropped }),
    },
    metrics,
    config_match: {},
    known_limitations: KNOWN_LIMITATIONS,
    ...(goodput === null ? {} : { goodput }),
    ...(hitRates === null ? {} : { hit_rate: compareHitRate(hitRates.real, hitRates.sim, options.hitRateTolerancePp) }),
    ...(ttftMape === null ? {} : { ttft_tolerance: verdictOfTtft(ttftMape, options.ttftMapeThreshold) }),
    unmatched: {
      not_in_results: unmatched.notInResults,
      not_answered: unmatched.withoutResponse,
      not_predicted: unmatched.notPredicted,
      not_in_trace: unmatched.notInTrace,
    },
    failures,
    repeatability: inputs.repeat?.source ?? 'two runs of the same requests on one H200',
    tolerances: verdicts(metrics, options.tolerances),
    notes: [
      ...inputs.notes,
      ...calibrationNotes(paired, metrics, {
        ...{ failures, gaps, hasChunkTimes: chunkTimes !== null },
        ...(inputs.maxInFlight === undefined ? {} : { maxInFlight: inputs.maxInFlight }),
      }),
    ],
  };
  const requests = pairs.map((pair) => pair.measured);
  const first = requests[0]!.sentUs;
  const sentS = Float64Array.from(requests, ({ sentUs }) => (sentUs - first) / 1e6);
  return { document, points: { sentS, load: loadAtSend(requests, measured), metrics: points } };
}

/** The pairs that have both sides. */
function withBoth(real: Float64Array, sim: Float64Array): [Float64Array, Float64Array] {
  const has = (_: number, i: number) => !Number.isNaN(real[i]!) && !Number.isNaN(sim[i]!);
  return [real.filter(has), sim.filter(has)];
}

function verdictOfTtft(mape: number, threshold: number): { mape: number; threshold: number; within: boolean } {
  return { mape, threshold, within: mape <= threshold };
}

function verdicts(
  metrics: CalibrationDocument['metrics'],
  tolerances: CalibrationOptions['tolerances'],
): CalibrationDocument['tolerances'] {
  const entries = COMPARED_METRICS.flatMap((metric) =>
    (['mape', 'mean'] as const).flatMap((kind): [ToleranceName, ToleranceVerdict][] => {
      const threshold = tolerances[`${metric}_${kind}`];
      if (threshold === undefined) return [];
      const value = errorOf(metrics[metric], kind);
      return [[`${metric}_${kind}`, { value, threshold, within: value !== null && value <= threshold }]];
    }),
  );
  return Object.fromEntries(entries);
}

function errorOf(comparison: MetricComparison | undefined, kind: 'mape' | 'mean'): number | null {
  if (comparison === undefined) return null;
  return kind === 'mape' ? comparison.request_level.mape : comparison.workload_level.mean_percent_error;
}

/** How many requests were under way when each of these was sent, itself included. Requests without an end count for nothing. */
export function loadAtSend(requests: readonly MeasuredRequest[], all: readonly MeasuredRequest[]): Int32Array {
  const ended = all.filter(({ e2eUs }) => e2eUs >= 0);
  const sent = Float64Array.from(ended, ({ sentUs }) => sentUs).sort();
  const end = Float64Array.from(ended, ({ e2eUs, sentUs }) => sentUs + e2eUs).sort();
  return Int32Array.from(requests, ({ sentUs }) => upTo(sent, sentUs) - upTo(end, sentUs));
}

/** How many of the sorted values are not above a limit. */
function upTo(sorted: Float64Array, limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
