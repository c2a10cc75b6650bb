import { counted } from '../../report/text/format-number.js';
import type { SimulateRuns } from '../run-experiment.js';
import type { RunSummary } from '../runs/run-summary.js';
import type { TuneObjective } from './objective.js';
import { type TuneInputs, tune } from './tune.js';
import type { TuneDocument } from './tune-document.js';

/** A set may complete this much less than the given one before that counts as refusing work. */
const SLACK = 0.005;

export interface TuneFleets extends Omit<TuneInputs, 'requests'> {
  /** Numbers of replicas to try, the smallest first; one unless the cost is the objective. */
  fleets: readonly number[];
}

/**
 * Tunes the smallest fleet first and stops at the first whose best policies keep all constraints on what was held out. The cost
 * of a fleet is its GPUs: nothing else differs between two sets that keep the constraints.
 */
export async function tuneFleets(
  { fleets, budget, objective, ...inputs }: TuneFleets,
  simulate: SimulateRuns,
): Promise<TuneDocument> {
  let result: TuneDocument | undefined;
  const failed: string[] = [];
  for (const instances of fleets) {
    const config = { ...inputs.config, instances };
    const [whole] = await simulate([{ config, workload: inputs.workload }]);
    const guarded = guardedObjective(objective, whole!);
    result = await tune({ ...inputs, config, budget, objective: guarded, requests: whole!.requests }, simulate);
    if (fleets.length === 1) return result;
    if (result.chosen.keeps_constraints) break;
    failed.push(String(instances));
  }
  const { chosen, gpus, instances, verdict } = result!;
  const tooSmall =
    failed.length === 0 ? '' : ` Smaller fleets (${failed.join(', ')}) do not, with any policy that was tried.`;
  const answer = chosen.keeps_constraints
    ? `${counted(instances, 'replica')} (${counted(gpus, 'GPU')}) ${instances === 1 ? 'keeps' : 'keep'} the constraints.${tooSmall} ${verdict}`
    : `None of the fleets keeps the constraints. ${verdict}`;
  return { ...result!, verdict: answer };
}

/**
 * The objective with a guard: latencies of a fleet that refuses requests look better, so no set may complete fewer than the given
 * one. Goodput counts refusals itself, and an own constraint on either share replaces the guard.
 */
function guardedObjective(objective: TuneObjective, given: RunSummary): TuneObjective {
  const { metric, constraints } = objective;
  const isOwn = constraints.some((one) => one.metric === 'completed_share' || one.metric === 'rejected_share');
  const completed = given.metrics.completed_share;
  if (isOwn || metric.key === 'goodput_rps' || metric.key === 'slo_attainment' || completed === null) return objective;
  const guard = { metric: 'completed_share', bound: 'at least', value: Math.max(0, completed - SLACK) } as const;
  return { metric, constraints: [...constraints, guard] };
}
