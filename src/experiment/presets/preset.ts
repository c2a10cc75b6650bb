import type { PolicyChoice } from '../../simulator/cluster-config.js';
import type { ExperimentAxis } from '../experiment.js';
import type { MetricKey } from '../metrics.js';
import type { WorkloadRecipe } from '../recipes/workload-recipe.js';

/** The capacity of a fleet, measured by offering far more. */
export interface Capacity {
  requestsPerSec: number;
  inputTokensPerSec: number;
}

/** A variant as flags: what it sets besides the preset's settings. */
export interface PresetVariant {
  name: string;
  /** Flags of `run` without the dashes, with their values. */
  settings: Readonly<Record<string, string>>;
  against: string | null;
  isolates: string;
  series: string;
  x: number | null;
  /** Replaces the workload of the flags. */
  workload?: WorkloadRecipe;
  /** Replaces flags: options that have no flag. */
  admission?: PolicyChoice;
  /** At most this many turns of every session of the workload. */
  maxTurns?: number;
}

/** A comparison that is worth a name. Everything in it can be read here and run by hand. */
export interface Preset {
  name: string;
  /** One line for help texts. */
  summary: string;
  title: string;
  settings: Readonly<Record<string, string>>;
  /**
   * The source of the workload: flags of `run` and `replay`, or the preset, unless it accepts a trace and one is given.
   */
  workload: 'flags' | 'preset' | 'preset or trace';
  /** The smallest number of requests that it supports. */
  leastRequests: number;
  /** The workload that the capacity is measured with; null: the variants do not depend on it. */
  capacityWorkload: (() => WorkloadRecipe) | null;
  /** `requests` is `--num-requests`; null: the preset's number. */
  variants(requests: number | null, capacity: Capacity): readonly PresetVariant[];
  axis: ExperimentAxis | null;
  headline: readonly MetricKey[] | null;
  notes(capacity: Capacity): readonly string[];
}
