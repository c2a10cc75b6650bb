import type { ObservationDocument } from '../../observe/drive/observation.js';
import { decimal, percent, wholeNumber } from '../../report/text/format-number.js';
import { createStyle, labelledText, type TextOptions } from '../../report/text/style.js';
import type { LatencySpread } from '../../simulator/results/latency-spread.js';

const QUANTILES = ['mean', 'p50', 'p90', 'p95', 'p99', 'max'] as const;

/** An observation as text. */
export function observationTable(document: ObservationDocument, options: TextOptions): string {
  const style = createStyle(options);
  const { driver, prompts, requests, server } = document;
  const { difference } = prompts;
  const problems = Object.entries(requests.problems).map(([name, count]) => `${wholeNumber(count)} ${name}`);
  const lines = [
    style.heading(`${server.model ?? 'a model'} at ${server.url}`),
    '',
    ...labelledText(
      style,
      'Requests',
      `${wholeNumber(requests.sent)} of ${wholeNumber(requests.planned)} sent, ${wholeNumber(requests.recorded)} recorded, ${wholeNumber(requests.completed)} completed`,
    ),
    ...(problems.length === 0 ? [] : labelledText(style, 'Problems', problems.join(', '))),
    ...labelledText(
      style,
      'Throughput',
      `${decimal(document.responses_per_sec)} requests/s, ${decimal(document.tokens_per_sec, 1)} output tokens/s over ${decimal(document.duration_s)} s`,
    ),
    ...labelledText(
      style,
      'Tokens',
      `${wholeNumber(document.total_input_tokens)} in, ${wholeNumber(document.total_cached_tokens)} of them cached, ${wholeNumber(document.total_output_tokens)} out`,
    ),
    ...labelledText(
      style,
      'Prompts',
      `${difference.compared === 0 ? 'not counted' : `${percent(difference.exact / difference.compared)} as long as planned, ${difference.min} to ${difference.max} tokens off`}, by ${prompts.counted_by}`,
    ),
  ];
  const latency = (title: string, name: 'ttft' | 'itl' | 'e2e') => [
    title,
    ...QUANTILES.map((quantile) => decimal(document[`${name}_${quantile}_ms`])),
  ];
  const own = (title: string, spread: LatencySpread) => [
    title,
    ...QUANTILES.map((quantile) => decimal(spread[quantile])),
  ];
  const table = style.table(
    [
      ['Latency, ms', ...QUANTILES],
      latency('first token', 'ttft'),
      latency('between pieces', 'itl'),
      latency('whole request', 'e2e'),
      own('sent late by', driver.lateness),
      own('held by cap', driver.cap_wait),
      own('connecting', driver.connect),
    ],
    ['left', ...QUANTILES.map(() => 'right' as const)],
  );
  const marks = [document.partial, document.late].filter((mark) => mark !== null);
  const ending = marks.length === 0 ? [] : ['', ...marks.flatMap((mark) => style.prose(`Marked: ${mark}`, 2))];
  return `${[...lines, '', ...table, ...ending].join('\n')}\n`;
}
