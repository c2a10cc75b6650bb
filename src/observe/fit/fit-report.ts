/** A fitted number and the range that holds it 19 times out of 20, as far as the data can tell. */
export interface Interval {
  name: string;
  value: number;
  /** Null where the data does not tell the number. */
  low: number | null;
  high: number | null;
}

/** A number that may as well be so many times as large is not known at all. */
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

/** Settings that were tried because nobody knew them, and how badly the best profile with them explains the data. */
export interface TriedSettings {
  settings: Record<string, string | number>;
  loss: number;
}

/** How a profile came about. Plain data; kept in the profile's file. */
export interface FitReport {
  data: { name: string; kind: 'steps' | 'requests'; used: number; heldOut: number }[];
  parameters: Interval[];
  /** On what was fitted, and, with a fit that had not seen it, on the held-out part. */
  steps?: { fitted: StepErrors; heldOut: StepErrors | null };
  requests?: { name: string; fitted: RequestErrors; heldOut: RequestErrors | null }[];
  tried?: TriedSettings[];
  /** What to know before trusting it, a sentence each. */
  notes: string[];
}
