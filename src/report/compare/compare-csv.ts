import type { Comparison } from '../../experiment/comparison/comparison.js';
import { csvText } from '../text/csv-text.js';

/** A row for each variant: every measure with its mean over seeds, the least and the greatest. */
export function compareCsv({ document, metrics }: Comparison): string {
  const head = [
    ...['variant', 'series', 'x', 'against', 'saturation', 'saturated_runs', 'runs'],
    ...metrics.flatMap(({ key }) => [key, `${key}_min`, `${key}_max`]),
  ];
  const rows = document.variants.map(({ against, metrics: measured, name, saturation, series, x }) => [
    ...[name, series, x ?? '', against ?? '', saturation.state, saturation.saturated, saturation.runs],
    ...metrics.flatMap(({ key }) => {
      const value = measured[key];
      return [value?.mean ?? '', value?.min ?? '', value?.max ?? ''];
    }),
  ]);
  return csvText([head, ...rows]);
}
