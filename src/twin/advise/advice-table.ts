import { createStyle, type TextOptions } from '../../report/text/style.js';
import type { Alignment, Cell } from '../../report/text/text-table.js';
import { WHAT_IF_TITLES, type WhatIfMetric } from '../whatif/recorded-metrics.js';
import type { WhatIfAlternative } from '../whatif/whatif-document.js';
import { whatIfAmount, whatIfClaim, whatIfSureness } from '../whatif/whatif-table.js';
import { whatIfChange } from '../whatif/whatif-verdict.js';
import type { AdviceDocument } from './advice-document.js';
import type { SwitchCost } from './switch-cost.js';

/** The advice as text: what to do, the policies from best to worst, the switch over time, and how sure that is. */
export function adviceTable(document: AdviceDocument, options: TextOptions): string {
  const style = createStyle(options);
  const { alternatives, baseline, cost, metric, present, verdict } = document;
  const was = baseline.metrics.find((one) => one.metric === metric)?.measured;
  const head = ['Policy', WHAT_IF_TITLES[metric], 'change', 'from', 'to', ''];
  const inForce = [present.policy, was === undefined ? '-' : whatIfAmount(metric, was), '', '', '', 'in force'];
  const rows = alternatives.map((one) => rowOf(one, metric, (text) => style.better(text)));
  const alignments: Alignment[] = ['left', 'right', 'right', 'right', 'right', 'left'];
  const [evidence, ...intervals] = whatIfSureness(document);
  const sure = [evidence!, ...(alternatives.length === 0 ? [] : intervals)];
  const sections = [
    style.prose(verdict).map(style.heading),
    style.table([head, inForce, ...rows], alignments),
    ...(cost === null || cost.windows.length === 0 ? [] : [style.table(costRows(cost), COST_ALIGNMENTS)]),
    sure.flatMap((line) => style.prose(line)),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function rowOf({ metrics, name, refused }: WhatIfAlternative, wanted: WhatIfMetric, better: (text: string) => string) {
  const found = metrics.find(({ metric }) => metric === wanted);
  if (found === undefined || refused !== null) return [name, '-', '', '', '', 'nothing claimed'];
  const { change, changeHigh, changeLow, claim, predicted } = found;
  const text = whatIfClaim(claim);
  const word: Cell = claim === 'better' ? { text, paint: better } : text;
  const [from, to] = [changeLow, changeHigh].map((one) => whatIfChange(wanted, one));
  return [name, whatIfAmount(wanted, predicted), whatIfChange(wanted, change), from!, to!, word];
}

const COST_ALIGNMENTS: Alignment[] = ['left', 'right', 'right', 'right'];

/** Mean TTFT by the time after the switch. */
function costRows({ windows, windowS }: SwitchCost): string[][] {
  const shown = windows.map(({ present, switched, warm }, i) => [
    `from ${seconds(i * windowS)}`,
    ...[present, switched, warm].map((ms) => whatIfAmount('ttft_mean_ms', ms)),
  ]);
  return [['TTFT in ms after the switch', 'not switched', 'switched', 'with warm caches'], ...shown];
}

/** Windows are as long as a tenth of half the recording: fractions of a second to hours. */
function seconds(value: number): string {
  if (value >= 7200) return `${(value / 3600).toFixed(1)} h`;
  if (value >= 120) return `${Math.round(value / 60)} min`;
  return `${value.toFixed(value < 10 ? 1 : 0)} s`;
}
