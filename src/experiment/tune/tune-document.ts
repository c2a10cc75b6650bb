import type { PolicyKeys } from '../../policy/bundle/policy-schema.js';
import type { Metric } from '../metrics.js';
import type { Gain } from './gain.js';
import type { SetOrigin } from './sample.js';
import type { Sensitivity } from './sensitivity.js';

/** A set of policies with its means over the parts that it was measured on. */
export interface TunedSet {
  name: string;
  origin: SetOrigin;
  /** Mean of the objective over the tuning parts. */
  tuning: number | null;
  /** The same over the parts that were held out; null for sets that were not chosen. */
  held_out: number | null;
  keeps_constraints: boolean;
}

/** A comparison of the chosen set with another on what was held out. */
export interface HeldOutGain {
  against: string;
  /** What the other set is: the given one, or the best without tuning. */
  role: 'given' | 'untuned';
  chosen: number;
  other: number;
  gain: Gain;
}

/** The result of `tune`. */
export interface TuneDocument {
  verdict: string;
  /** Parts of the held-out workload in which the fleet with the chosen policies is saturated. */
  saturated: { parts: number; of: number; verdict: string | null };
  /** Why the result may be wrong, a sentence each. */
  warnings: string[];
  objective: Metric;
  constraints: string[];
  parts: string;
  runs: number;
  instances: number;
  gpus: number;
  chosen: TunedSet & { policies: PolicyKeys };
  gains: HeldOutGain[];
  sensitivity: Sensitivity[];
  /** The gains and the sensitivity in sentences. */
  findings: { gains: string[]; knobs: string[] };
  finalists: TunedSet[];
}
