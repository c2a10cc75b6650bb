import type { ClusterConfig } from '../simulator/cluster-config.js';
import type { LatencyMeasure, MetricKey } from './metrics.js';
import type { WorkloadRecipe } from './recipes/workload-recipe.js';

/** One simulation as plain data: enough to run it in this process or in another thread. */
export interface RunInputs {
  /** Its `seed` is the run's. */
  config: ClusterConfig;
  workload: WorkloadRecipe;
  /** What to measure of its steady state; absent: nothing. */
  steady?: readonly LatencyMeasure[];
  /** Whether to describe its course over time; absent: not. */
  course?: true;
}

/** One of the compared variants. */
export interface Variant {
  name: string;
  /** Its seed is replaced by each of the experiment's. */
  config: ClusterConfig;
  workload: WorkloadRecipe;
  /** The variant it is measured against; null for one that others are measured against. */
  against: string | null;
  /** What the difference to that variant shows, as the end of a sentence; empty when not given. */
  isolates: string;
  /** Where a parameter varies in steps (the load, the age of signals): the line it belongs to, and its position. */
  series: string;
  x: number | null;
}

/** What `x` of the variants means. */
export interface ExperimentAxis {
  title: string;
  /** After a value: `10 ms`, `2 x capacity`. */
  unit: string;
}

/** Variants under the same workloads and seeds. */
export interface Experiment {
  title: string;
  variants: readonly Variant[];
  seeds: readonly number[];
  axis: ExperimentAxis | null;
  /** The metrics of tables and sentences; null: those that usually differ between variants. */
  headline: readonly MetricKey[] | null;
  /** Notes for the reader besides the numbers, a sentence each. */
  notes: readonly string[];
}

/**
 * Every run, all variants of a seed before the next seed: an experiment that is stopped early has whole pairs, and a worker
 * meets the same workload several times in a row.
 */
export function runsOf({ variants, seeds }: Experiment): RunInputs[] {
  return seeds.flatMap((seed) => variants.map(({ config, workload }) => ({ config: { ...config, seed }, workload })));
}

/** Place in `runsOf` of a variant's run with a seed, both by index. */
export function runIndex({ variants }: Experiment, variant: number, seed: number): number {
  return seed * variants.length + variant;
}
