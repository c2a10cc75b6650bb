import { csvText } from '../../report/text/csv-text.js';
import { counted, decimal } from '../../report/text/format-number.js';
import { createStyle, type TextOptions } from '../../report/text/style.js';
import type { Alignment } from '../../report/text/text-table.js';
import { WHAT_IF_TITLES, type WhatIfMetric } from './recorded-metrics.js';
import type { WhatIfAlternative, WhatIfDocument, WhatIfPrediction } from './whatif-document.js';
import { whatIfChange } from './whatif-verdict.js';

/** Where an interval ends at so many times its beginning, and step times are known this well, chance decides more than the policy. */
const UNSTABLE = 2;
const KNOWN_STEPS = 0.06;

/** The result as text: the verdict, how sure it is, and a table for each alternative. */
export function whatIfTable(document: WhatIfDocument, options: TextOptions): string {
  const style = createStyle(options);
  const { alternatives } = document;
  const alignments: Alignment[] = ['left', 'right', 'right', 'right', 'right', 'right', 'left'];
  const sections = [
    ...alternatives.map(({ verdict }) => style.prose(verdict).map(style.heading)),
    [...whatIfSureness(document)].flatMap((line) => style.prose(line)),
    ...alternatives
      .filter(({ refused }) => refused === null)
      .map((one) => style.table([['', 'was', one.name, 'from', 'to', 'change', ''], ...rowsOf(one)], alignments)),
    style.table(
      [
        ['As recorded', 'measured', 'simulated', 'error'],
        ...document.baseline.metrics.map(({ error, measured, metric, simulated }) => [
          WHAT_IF_TITLES[metric],
          ...[measured, simulated].map((value) => whatIfAmount(metric, value)),
          whatIfChange(metric, error),
        ]),
      ],
      ['left', 'right', 'right', 'right'],
    ),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

export function whatIfCsv({ alternatives }: WhatIfDocument): string {
  const head = ['alternative', 'metric', 'was', 'predicted', 'low', 'high', 'claim', 'refused'];
  const rows = alternatives.flatMap(({ metrics, name, refused }) =>
    metrics.map(({ claim, high, low, metric, predicted, was }) => [
      ...[name, metric, was, predicted, low, high],
      ...[refused === null ? claim : 'none', refused ?? ''],
    ]),
  );
  return csvText([head, ...rows]);
}

/** How much was simulated and how well, a sentence a line. */
export function* whatIfSureness({
  alternatives,
  baseline,
  recording,
}: Pick<WhatIfDocument, 'alternatives' | 'baseline' | 'recording'>): Generator<string> {
  const { durationS, replicas, requests, warmUp } = recording;
  const { profile, stepError } = baseline;
  yield `${counted(requests, 'request')} over ${decimal(durationS, 1)} s on ${counted(replicas.length, 'replica')}; profile: ${profile.source === 'fitted' ? profile.name : `${profile.name} (given)`}, step times known to ${decimal(100 * stepError, 1)} %.`;
  if (warmUp > 0)
    yield `${counted(warmUp, 'earlier request')} ${warmUp === 1 ? 'was' : 'were'} simulated as well, to fill caches.`;
  yield `Intervals hold what would be measured in 95 of 100 cases, by ${counted(alternatives[0]?.runs ?? 0, 'run')}: the error of the recording as simulated, of step times, and of chance.`;
  if (recording.sessions === 'closed-loop') yield 'Later turns of sessions follow the responses before them.';
  if (recording.sessions === 'scheduled')
    yield 'Later turns of sessions arrive when they were recorded: their clients kept to a schedule, however long responses took.';
  for (const { metrics, name, refused } of alternatives) {
    const ttft = metrics.find(({ metric }) => metric === 'ttft_mean_ms');
    if (refused !== null || ttft === undefined || ttft.high < UNSTABLE * ttft.low || stepError > KNOWN_STEPS) continue;
    yield `${name} piles requests up by chance: runs of the same traffic differ, TTFT mean from ${decimal(ttft.low, 0)} to ${decimal(ttft.high, 0)} ms.`;
  }
  for (const note of profile.notes) yield note;
}

function rowsOf({ metrics }: WhatIfAlternative): string[][] {
  return metrics.map((one) => {
    const { change, claim, high, low, metric, predicted, was } = one;
    const values = [was, predicted, low, high].map((value) => whatIfAmount(metric, value));
    return [WHAT_IF_TITLES[metric], ...values, whatIfChange(metric, change), whatIfClaim(claim)];
  });
}

export function whatIfClaim(claim: WhatIfPrediction['claim']): string {
  return claim === 'none' ? 'not claimed' : claim;
}

/** Without its unit, which the title has. */
export function whatIfAmount(metric: WhatIfMetric, value: number): string {
  if (metric === 'cached_share') return decimal(100 * value, 1);
  return decimal(value, value >= 1000 ? 0 : value >= 100 ? 1 : 2);
}
