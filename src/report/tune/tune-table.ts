import type { TuneDocument, TunedSet } from '../../experiment/tune/tune-document.js';
import { csvText } from '../text/csv-text.js';
import { amount, unitText } from '../text/metric-text.js';
import { createStyle, type TextOptions } from '../text/style.js';

const ORIGINS = { given: 'given', untuned: 'defaults', sampled: 'tuned', refined: 'tuned' } as const;

/** The result as text: the verdict first, then the finalists, the gains and what the knobs do. */
export function tuneTable(document: TuneDocument, options: TextOptions): string {
  const style = createStyle(options);
  const { constraints, parts, runs, warnings } = document;
  const sections = [
    style.prose(document.verdict).map(style.heading),
    warnings.flatMap((warning) => style.prose(`Warning: ${warning}`, 2)),
    style.table(finalistRows(document), ['right', 'right', 'left', 'left', 'left']),
    document.findings.gains.flatMap((line) => style.prose(line, 2)),
    document.findings.knobs.flatMap((line) => style.prose(line, 2)),
    [
      `${runs} runs; ${parts}.`,
      ...(constraints.length === 0 ? [] : [`Constraints: ${constraints.join('; ')}.`]),
    ].flatMap((line) => style.prose(line).map(style.faint)),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** Names, then a row for each finalist, the best first. */
export function finalistRows({ chosen, finalists, objective }: TuneDocument): string[][] {
  const title = [objective.title, unitText(objective)].filter(Boolean).join(', ');
  const cell = (value: number | null) => (value === null ? '' : amount(objective, value));
  const mark = (set: TunedSet) =>
    set.name === chosen.name ? 'chosen' : set.keeps_constraints ? '' : 'breaks a constraint';
  return [
    [title, 'held out', 'from', '', 'policies'],
    ...finalists.map((set) => [cell(set.tuning), cell(set.held_out), ORIGINS[set.origin], mark(set), set.name]),
  ];
}

/** The finalists as comma-separated values. */
export function tuneCsv({ chosen, finalists, objective }: TuneDocument): string {
  const rows = [
    ['policies', 'origin', `${objective.key}_tuning`, `${objective.key}_held_out`, 'keeps_constraints', 'chosen'],
    ...finalists.map((set) => [
      set.name,
      set.origin,
      String(set.tuning ?? ''),
      String(set.held_out ?? ''),
      String(set.keeps_constraints),
      String(set.name === chosen.name),
    ]),
  ];
  return csvText(rows);
}
