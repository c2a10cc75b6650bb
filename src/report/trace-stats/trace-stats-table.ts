import type { TraceStats } from '../../workload/tools/trace-stats-document.js';
import { createStyle } from '../text/style.js';
import { textTable } from '../text/text-table.js';
import { statsHeadline, statsSections } from './trace-stats-sections.js';

/** The statistics of a trace for people: a page of aligned text. `name` is what the trace is called. */
export function traceStatsTable(name: string, stats: TraceStats, { colour }: { colour: boolean }): string {
  const style = createStyle(colour);
  const tables = statsSections(stats).map((rows) => {
    const [names, ...lines] = textTable(rows, ['left', ...rows[0]!.slice(1).map(() => 'right' as const)]);
    return [style.heading(names!), ...lines].join('\n');
  });
  const headline = `${name.replace(/\p{Cc}/gu, '?')}: ${statsHeadline(stats)}`;
  return `${[style.heading(headline), ...tables].join('\n\n')}\n`;
}
