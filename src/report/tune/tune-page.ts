import type { TuneDocument } from '../../experiment/tune/tune-document.js';
import { drawBarRows } from '../chart/bar-rows.js';
import { escaped } from '../chart/svg.js';
import { CHART_STYLE } from '../page/chart-style.js';
import { htmlPage, htmlTable } from '../page/html-page.js';
import { amountWithUnit } from '../text/metric-text.js';
import { finalistRows } from './tune-table.js';

const CHOSEN = 2;
const OTHER = 0;
const BROKEN = 1;

/** The result as one page that needs nothing else: the verdict and its picture first. */
export function tunePage(document: TuneDocument): string {
  const { constraints, parts, runs, verdict, warnings } = document;
  const body = [
    `<h1>${escaped(verdict)}</h1>`,
    ...warnings.map((warning) => `<p><strong>Warning:</strong> ${escaped(warning)}</p>`),
    `<div class="panels">${finalistBars(document)}</div>`,
    list('Gain on what was held out', document.findings.gains),
    list('What the knobs do', document.findings.knobs),
    '<h2>Finalists</h2>',
    `<div class="scroll">${htmlTable(finalistRows(document).map(namedFirst))}</div>`,
    `<p>${escaped(`${runs} runs; ${parts}.`)}</p>`,
    constraints.length === 0 ? '' : `<p>${escaped(`Constraints: ${constraints.join('; ')}.`)}</p>`,
  ];
  return htmlPage('Tuned policies', body.filter((part) => part !== '').join('\n'), CHART_STYLE);
}

/** Names are read from the left, numbers from the right. */
function namedFirst(row: readonly string[]): string[] {
  return [row.at(-1)!, ...row.slice(0, -1)];
}

function finalistBars({ chosen, finalists, objective }: TuneDocument): string {
  const rows = finalists.flatMap(({ held_out, keeps_constraints, name, tuning }) => {
    const value = held_out ?? tuning;
    if (value === null) return [];
    const colour = name === chosen.name ? CHOSEN : keeps_constraints ? OTHER : BROKEN;
    const text = `${amountWithUnit(objective, value)}${held_out === null ? ' (tuning)' : ''}`;
    return { name, colour, value, low: value, high: value, text };
  });
  return rows.length === 0 ? '' : drawBarRows(objective.title, rows);
}

function list(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `<h2>${escaped(title)}</h2>\n<ul>${lines.map((line) => `<li>${escaped(line)}</li>`).join('')}</ul>`;
}
