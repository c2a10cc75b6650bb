import type { SweepResult } from '../../experiment/sweep/sweep-document.js';

/** A row for each point, for spreadsheets and notebooks: settings, marks, and each metric with the ends of its interval. */
export function sweepCsv({ document, metrics }: SweepResult): string {
  const axes = document.axes.map(({ name }) => name);
  const head = [
    ...axes,
    'gpus',
    'feasible',
    'pareto',
    'best',
    ...metrics.flatMap(({ key }) => [key, `${key}_low`, `${key}_high`]),
  ];
  const rows = document.points.map((point, i) => [
    ...axes.map((name) => point.settings[name]!),
    point.gpus,
    point.feasible,
    point.pareto,
    i === document.best,
    ...metrics.flatMap(({ key }) => {
      const value = point.metrics[key] ?? null;
      return [value?.mean ?? '', value?.low ?? '', value?.high ?? ''];
    }),
  ]);
  return [head, ...rows].map((row) => `${row.map((cell) => quoted(String(cell))).join(',')}\n`).join('');
}

/** A cell that starts like a formula stays text in spreadsheets. */
function quoted(cell: string): string {
  const safe = /^[=+@]|^-(?![\d.])/.test(cell) ? `'${cell}` : cell;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
