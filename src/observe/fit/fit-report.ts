/** A fitted number and its 95 % interval, as far as the data shows it. */
export interface Interval {
  name: string;
  value: number;
  /** Null where the data does not determine the number. */
  low: number | null;
  high: number | null;
}

/** A number whose interval spans this factor is not known at all. */
const UNKNOWN = 10;

export function intervalOf(name: string, value: number, low: number, high: number): Interval {
  const isKnown = high <= UNKNOWN * value;
  return isKnown ? { name, value, low, high } : { name, value, low: null, high: null };
}

/** How well steps are predicted: relative errors. */
export interface StepErrors {
  steps: number;
  medianAbs: number;
  p90Abs: number;
  /** Predicted total time over measured total time, less 1. */
  total: number;
}

/** How well the requests of a trace are predicted: simulated mean over observed mean, less 1. */
export interface RequestErrors {
  requests: number;
  ttft: number;
  itl: number;
  e2e: number;
}

/** Unknown settings that were tried, and the loss of the best profile with them. */
export interface TriedSettings {
  settings: Record<string, string | number>;
  loss: number;
}

/** How a profile was fitted. Plain data, stored in the profile's file. */
export interface FitReport {
  data: { name: string; kind: 'steps' | 'requests'; used: number; heldOut: number }[];
  parameters: Interval[];
  /** On the fitted data, and, with a fit without it, on the held-out part. */
  steps?: { fitted: StepErrors; heldOut: StepErrors | null };
  requests?: { name: string; fitted: RequestErrors; heldOut: RequestErrors | null }[];
  tried?: TriedSettings[];
  /** What to know before trusting it, a sentence each. */
  notes: string[];
}
