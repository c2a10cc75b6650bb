import type { SweepResult } from '../../experiment/sweep/sweep-document.js';
import { csvText } from '../text/csv-text.js';

/** A row for each point, for spreadsheets and notebooks: settings, marks, and each metric with the ends of its interval. */
export function sweepCsv({ document, metrics }: SweepResult): string {
  const axes = document.axes.map(({ name }) => name);
  const head = [
    ...axes,
    'gpus',
    'feasible',
    'saturated_runs',
    'too_short_runs',
    'pareto',
    'best',
    ...metrics.flatMap(({ key }) => [key, `${key}_low`, `${key}_high`]),
  ];
  const rows = document.points.map((point, i) => [
    ...axes.map((name) => point.settings[name]!),
    point.gpus,
    point.feasible,
    point.saturated_runs,
    point.too_short_runs,
    point.pareto,
    i === document.best,
    ...metrics.flatMap(({ key }) => {
      const value = point.metrics[key] ?? null;
      return [value?.mean ?? '', value?.low ?? '', value?.high ?? ''];
    }),
  ]);
  return csvText([head, ...rows]);
}
