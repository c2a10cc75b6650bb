import { boundOf, type Constraint, isOfSettings } from './constraint.js';
import { betterOf, type Measure, type Objective } from './measure.js';
import type { SweepPlan } from './sweep.js';

/** Settings that are the load on the fleet. */
export const LOAD_AXES: readonly string[] = ['rate', 'concurrency'];

/** What the best point is best in and what the front weighs: as asked, else by what varies and what is constrained. */
export function chosenObjectives(sweep: Pick<SweepPlan, 'axes' | 'constraints' | 'objective' | 'pareto' | 'points'>): {
  best: readonly Objective[];
  pareto: readonly Objective[];
} {
  const latency = constrainedMetric(sweep.constraints);
  const load = sweep.axes
    .filter(({ name }) => LOAD_AXES.includes(name))
    .map(({ name }) => objective({ kind: 'setting', name }));
  const first = sweep.points[0]?.gpus;
  const fleet = sweep.points.some(({ gpus }) => gpus !== first) ? [objective({ kind: 'gpus', name: 'gpus' })] : [];
  // Without a constraint the smallest fleet and the highest load are no achievement.
  const asked = sweep.constraints.some((one) => !isOfSettings(one))
    ? [...load, ...fleet, latency]
    : [latency, ...fleet];
  return {
    best: sweep.objective === null ? asked : [sweep.objective, ...asked],
    pareto: sweep.pareto ?? [latency, ...fleet, ...load],
  };
}

/** The metric that the first constraint bounds; TTFT p99 without one. */
export function constrainedMetric(constraints: readonly Constraint[]): Objective {
  for (const constraint of constraints) {
    const bound = boundOf(constraint);
    if (bound?.measure.kind === 'metric') return objective(bound.measure);
  }
  return objective({ kind: 'metric', name: 'ttft_p99', key: 'ttft_p99_ms' });
}

function objective(measure: Measure): Objective {
  return { measure, better: betterOf(measure) ?? 'less' };
}
