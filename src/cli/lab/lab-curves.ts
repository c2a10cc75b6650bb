import type { Comparison, MetricSummary } from '../../experiment/comparison/comparison.js';
import { meanHalfWidth } from '../../experiment/comparison/paired-difference.js';
import type { RunSummary } from '../../experiment/runs/run-summary.js';
import type { LabCurves } from '../../twin/lab/lab-task.js';

/** What a page draws of each variant. @param runs in the order of `runsOf`: all variants of a seed before the next seed */
export function labCurves({ curves, document }: Comparison, runs: readonly RunSummary[]): LabCurves[] {
  return document.variants.map(({ metrics, name }, i) => {
    const own = runs.filter((_, run) => run % document.variants.length === i);
    const { inSystem, replicas, stepUs, tokensPerS } = own[0]!.course!;
    const intervals = Object.entries(metrics).map(([key, summary]) => [
      key,
      summary === null ? null : interval(summary),
    ]);
    return {
      ...{ name, ttft_ms: curves[i]!.ttftMs, e2e_ms: curves[i]!.e2eMs },
      itl_ms: means(own.map(({ course }) => course!.itlMs).filter((list) => list.length > 0)),
      ...{ step_s: stepUs / 1e6, in_system: inSystem, tokens_per_s: tokensPerS },
      replicas: { kind: replicas.kind, rows: replicas.rows },
      intervals: Object.fromEntries(intervals),
    };
  });
}

/** Entry by entry; all lists are equally long. */
function means(lists: readonly (readonly number[])[]): number[] {
  return (lists[0] ?? []).map((_, i) => lists.reduce((sum, list) => sum + list[i]!, 0) / lists.length);
}

/** The 95 % confidence interval of a mean over seeds; no measure is below 0. Null for one seed. */
function interval({ by_seed: values, mean }: MetricSummary): [low: number, high: number] | null {
  const half = meanHalfWidth(values, mean);
  return half === null ? null : [Math.max(0, mean - half), mean + half];
}
