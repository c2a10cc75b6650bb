import { type Interval, intervalOf } from '../fit-report.js';
import { solve } from '../solve/nnls.js';
import type { StepFit } from './fit-steps.js';
import { TERMS } from './step-terms.js';

/** Neighbouring steps are correlated: this many of a run count as one observation. */
const BLOCK = 50;
/** Standard deviations to either side that hold 95 % of a normal distribution. */
const SPAN = 1.96;

/**
 * The confidence of unit costs, from the scatter of errors over stretches of steps. The range of a cost of 0 is 0,
 * unless no step contains it.
 */
export function stepIntervals(fit: StepFit): Interval[] {
  const free = [...fit.coefficients.keys()].filter((i) => fit.coefficients[i]! > 0);
  const { bread, meat } = sandwich(fit, free);
  const n = free.length;
  return TERMS.map((name) => {
    const column = fit.terms.unit(name);
    const value = fit.coefficients[column]!;
    const at = free.indexOf(column);
    if (at < 0) return isSeen(fit, column) ? { name, value, low: 0, high: 0 } : { name, value, low: null, high: null };
    const unit = new Float64Array(n);
    unit[at] = 1;
    const row = solve(bread, unit);
    let variance = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) variance += row[i]! * meat[i * n + j]! * row[j]!;
    const span = SPAN * Math.sqrt(Math.max(0, variance));
    return intervalOf(name, value, Math.max(0, value - span), value + span);
  });
}

/** Whether any step has something in a column. */
function isSeen({ slopes, terms }: StepFit, column: number): boolean {
  for (let at = column; at < slopes.length; at += terms.columns) if (slopes[at] !== 0) return true;
  return false;
}

/** The normal equations of the free columns, and the products of what each block of steps pulls at them. */
function sandwich(fit: StepFit, free: readonly number[]): { bread: Float64Array; meat: Float64Array } {
  const n = free.length;
  const width = fit.terms.columns;
  const bread = new Float64Array(n * n);
  const meat = new Float64Array(n * n);
  const pull = new Float64Array(n);
  let inBlock = 0;
  const endBlock = () => {
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) meat[i * n + j]! += pull[i]! * pull[j]!;
    pull.fill(0);
    inBlock = 0;
  };
  for (const [row, { us, sample }] of fit.rows.entries()) {
    const weight = fit.weights[row]!;
    const error = us - fit.predicted[row]!;
    for (let i = 0; i < n; i++) {
      const value = weight * fit.slopes[row * width + free[i]!]!;
      if (value === 0) continue;
      pull[i]! += value * error;
      for (let j = 0; j < n; j++) bread[i * n + j]! += value * fit.slopes[row * width + free[j]!]!;
    }
    if (++inBlock === BLOCK || !sample.inService) endBlock();
  }
  endBlock();
  return { bread, meat };
}
