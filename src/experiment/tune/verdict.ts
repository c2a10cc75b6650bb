import { amountWithUnit } from '../../report/text/metric-text.js';
import type { Metric } from '../metrics.js';
import { changeOf } from './findings.js';
import type { WorkloadParts } from './parts.js';
import type { HeldOutGain, TuneDocument } from './tune-document.js';

type Found = Omit<TuneDocument, 'verdict' | 'warnings'>;

/** Fewer pairs have an interval that says little. */
const FEW_PARTS = 4;

/** The answer in a sentence or two: what to serve, what it gains on what was held out, and how sure that is. */
export function tuneVerdict({ chosen, constraints, gains, objective }: Found): string {
  const metric = objective;
  if (!chosen.keeps_constraints) {
    return `No set of policies keeps the constraints (${constraints.join(', ')}); ${chosen.name} comes closest, with ${metric.title} ${reached(metric, chosen.held_out)}.`;
  }
  const given = gains.find(({ role }) => role === 'given');
  const untuned = gains.find(({ role }) => role === 'untuned');
  if (gains.length === 0) {
    return `Keep ${chosen.name}: nothing that was tried is better than it by more than noise (${metric.title} ${reached(metric, chosen.held_out)}).`;
  }
  const isUntuned = chosen.origin === 'untuned';
  const lead = given ?? untuned!;
  const serve = `Serve ${chosen.name} instead of ${lead.against}: ${metric.title} is ${gainText(metric, lead)}.`;
  if (chosen.origin === 'given') {
    return `Keep ${chosen.name}: ${untuned!.against} is not better by more than noise (${metric.title} ${reached(metric, chosen.held_out)}).`;
  }
  if (isUntuned) return `${serve} Tuning its options gains nothing beyond noise.`;
  if (untuned === undefined || untuned === lead) return serve;
  return `${serve} Against ${untuned.against}, the best without tuning, it is ${gainText(metric, untuned)}.`;
}

export function tuneWarnings({ gains, objective, saturated }: Found, { heldOut }: WorkloadParts): string[] {
  const warnings: string[] = [];
  if (saturated.verdict !== null) {
    warnings.push(
      `Even with these policies the fleet is saturated in ${saturated.parts} of ${saturated.of} parts: ${saturated.verdict}. Latencies then depend on how long the workload is; add replicas or lower the load.`,
    );
  }
  if (heldOut.length < FEW_PARTS) {
    warnings.push(
      `The gain was judged on ${heldOut.length} part${heldOut.length === 1 ? '' : 's'} of the workload only: give a longer trace.`,
    );
  }
  const { title } = objective;
  for (const { against, gain } of gains) {
    if (gain.verdict === 'noise')
      warnings.push(`On what was held out the difference in ${title} to ${against} is inside the noise.`);
    if (gain.verdict === 'worse')
      warnings.push(`On what was held out ${title} is worse than with ${against}: the search found luck.`);
  }
  return warnings;
}

function reached(metric: Metric, value: number | null): string {
  return value === null ? 'unknown' : amountWithUnit(metric, value);
}

/** `18.2 % lower, interval 12.1 to 23.9 % (98.1 ms against 120.3 ms)`. */
function gainText(metric: Metric, { chosen, other, gain }: HeldOutGain): string {
  const values = `${amountWithUnit(metric, chosen)} against ${amountWithUnit(metric, other)}`;
  return `${changeOf(metric, gain)} (${values})`;
}
