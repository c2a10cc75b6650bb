import type { TraceStats } from '../../workload/tools/stats/trace-stats-document.js';
import { createStyle, type TextOptions } from '../text/style.js';
import { statsHeadline, statsSections } from './trace-stats-sections.js';

/** The statistics of a trace as aligned text. `name`: the name of the trace. */
export function traceStatsTable(name: string, stats: TraceStats, options: TextOptions): string {
  const style = createStyle(options);
  const tables = statsSections(stats).map((rows) =>
    style.table(rows, ['left', ...rows[0]!.slice(1).map(() => 'right' as const)]).join('\n'),
  );
  const headline = `${name.replace(/\p{Cc}/gu, '?')}: ${statsHeadline(stats)}`;
  return `${[style.heading(headline), ...tables].join('\n\n')}\n`;
}
