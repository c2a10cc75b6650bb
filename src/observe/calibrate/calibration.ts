import type { FailureComparison } from './compare/compare-failures.js';
import type { GoodputComparison } from './compare/compare-goodput.js';
import type { HitRateComparison } from './compare/compare-hit-rate.js';
import type { GradedMetric } from './compare/compare-metric.js';

/** What is compared of every request, in the order of a report. */
export const COMPARED_METRICS = ['ttft', 'e2e', 'itl'] as const;

export type MetricName = (typeof COMPARED_METRICS)[number];

/** What a tolerance limits: the mean error of single requests, or the error of the mean. */
export type ToleranceName = `${MetricName}_${'mape' | 'mean'}`;

export interface ToleranceVerdict {
  /** Null when there was nothing to judge: then it is not within. */
  value: number | null;
  threshold: number;
  within: boolean;
}

/** The report of a comparison. Times are microseconds, errors shares. */
export interface CalibrationDocument {
  trace_info: {
    num_requests: number;
    warm_up_excluded: number;
    matched_pairs: number;
    token_mismatches: number;
    /** Only where times of single chunks were given. */
    itl_dropped?: number;
  };
  /** A measure that no pair has is absent. */
  metrics: Partial<Record<MetricName, GradedMetric>>;
  config_match: Record<string, never>;
  known_limitations: readonly string[];
  goodput?: GoodputComparison;
  hit_rate?: HitRateComparison;
  ttft_tolerance?: { mape: number; threshold: number; within: boolean };
  /** Fields of our own, besides those of the common report format. */
  unmatched: { not_in_results: number; not_answered: number; not_predicted: number; not_in_trace: number };
  failures: FailureComparison;
  /** Where the repeatability comes from that metrics are graded by. */
  repeatability: string;
  tolerances: Partial<Record<ToleranceName, ToleranceVerdict>>;
  /** What a reader has to know of these numbers, a sentence each. */
  notes: readonly string[];
}

/** The pairs behind the numbers, in order of sending, for plots. */
export interface CalibrationPoints {
  /** Since the first of them. */
  sentS: Float64Array;
  /** Requests under way when each was sent. */
  load: Int32Array;
  /** Both sides of each metric, in milliseconds; NaN where a pair has none. */
  metrics: Partial<Record<MetricName, { realMs: Float64Array; simMs: Float64Array }>>;
}

export interface Calibration {
  document: CalibrationDocument;
  points: CalibrationPoints;
}

export const KNOWN_LIMITATIONS: readonly string[] = [
  'Requests are compared by their ids: requests without a response, or without a prediction, are in no latency; failures are counted on both sides.',
  "Token mismatches are counted by the server's count of a prompt or, without one, by input_tokens, which leave out a shared prefix.",
  'The network is one round trip and one bandwidth for all; what varies in it counts as an error of the prediction.',
  'A measured gap lies between chunks of a response, which may hold several tokens; a predicted one between tokens.',
];
