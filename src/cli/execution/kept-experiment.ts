import type { Experiment } from '../../experiment/experiment.js';
import type { PlanDocument } from '../../experiment/plan/plan-document.js';
import { readResult } from '../../experiment/runs/shard.js';
import { type SweepPlan, sweptRun } from '../../experiment/sweep/sweep.js';
import type { TuneDocument } from '../../experiment/tune/tune-document.js';
import type { ExperimentResult } from './print-result.js';

/**
 * An experiment as a queue keeps it: the plan that turns results of its shards into what it finds, or what was found, where the
 * runs depended on each other.
 */
export type KeptExperiment =
  | { kind: 'Compare'; plan: Experiment }
  | { kind: 'Sweep'; plan: SweepPlan }
  | { kind: 'Plan'; found: PlanDocument }
  | { kind: 'Tune'; found: TuneDocument };

/** @param results of the shards, in their order */
export async function resultOf(kept: KeptExperiment, results: readonly string[]): Promise<ExperimentResult> {
  switch (kept.kind) {
    case 'Compare': {
      const { compareRuns } = await import('../../experiment/comparison/comparison.js');
      return { kind: 'Compare', found: compareRuns(kept.plan, results.map(readResult)) };
    }
    case 'Sweep': {
      const { sweepResult } = await import('../../experiment/sweep/sweep-document.js');
      const runs = results.map((bytes) => sweptRun(readResult(bytes)));
      return { kind: 'Sweep', found: sweepResult(kept.plan, runs) };
    }
    default:
      return kept;
  }
}
