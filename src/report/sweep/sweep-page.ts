import type { Measure } from '../../experiment/sweep/measure.js';
import type { SweepResult, SweptPoint } from '../../experiment/sweep/sweep-document.js';
import { escaped } from '../chart/svg.js';
import { CHART_STYLE, COLOURS } from '../page/chart-style.js';
import { htmlPage, htmlTable } from '../page/html-page.js';
import { amount } from '../text/metric-text.js';
import { cdfChart, heatChart, loadChart, MOST_LINES, metricAlong, paretoChart } from './sweep-charts.js';
import { columnTitle, markOf, sweepHeadline } from './sweep-table.js';

/** Shades of heat maps, from the best to the worst, on light and on dark pages; all sections start on paper as on a screen. */
const HEAT_LIGHT = ['#d7f0dd', '#e3f2d0', '#f1f3c4', '#fbeeb8', '#fde0ad', '#fccfa2', '#f9bd9d', '#f5a99b'];
const HEAT_DARK = ['#0f3d22', '#23411b', '#3b4416', '#514213', '#5c3a13', '#643116', '#6b281b', '#711f22'];
const heatRules = (colours: readonly string[]) =>
  colours.map((colour, i) => `.heat.h${i} { fill: ${colour}; }`).join(' ');
const SWEEP_STYLE = `
h1 { line-height: 1.3; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.9em; }
td, th { white-space: nowrap; }
.broken { stroke: var(--faint); fill: none; }
${heatRules(HEAT_LIGHT)}
@media (prefers-color-scheme: dark) { ${heatRules(HEAT_DARK)} }
@media print {
:root { --ink: #1f2328; --faint: #59636e; --line: #d1d9e0; --back: #ffffff; }
body { margin: 0; max-width: none; font-size: 11px; } h2 { break-after: avoid; }
svg, tr { break-inside: avoid; } .scroll { overflow: visible; } td, th { white-space: normal; }
}
`;

/** Rows of the tables of a page. */
const MOST_ROWS = 50;

/** The sweep as one page that needs nothing else: verdict and picture first, then winners, plots and explanations. */
export function sweepPage(result: SweepResult): string {
  const { document, main } = result;
  const title = measureTitle(result);
  const first = [
    loadChart(result),
    paretoChart(result, title),
    heatChart(result, main.metric),
    metricAlong(result, main.metric),
  ];
  const [picture = '', ...others] = first.filter((chart) => chart !== '');
  const heats = result.headline.filter((metric) => metric !== main.metric).map((metric) => heatChart(result, metric));
  const sections = [
    `<h1>${escaped(document.verdict)}</h1>`,
    paragraph(`${document.title}: ${sweepHeadline(document)}.`),
    firstPicture(result, picture),
    section('Winners', winners(result)),
    section('More pictures', figure(others, '')),
    section('Latencies', latencies(result)),
    section(
      'Heat maps',
      figure(
        heats.filter((chart) => chart !== ''),
        '',
      ),
    ),
    section('All points', table(result, document.points)),
    section('Not simulated', refused(result)),
    section('How to read this', method(result)),
    section('Command', `<pre>${escaped(document.command)}</pre>`),
  ];
  return htmlPage(document.title, sections.filter((text) => text !== '').join('\n'), `${CHART_STYLE}${SWEEP_STYLE}`);
}

function section(title: string, text: string): string {
  return text === '' ? '' : `<h2>${escaped(title)}</h2>\n${text}`;
}

/** A load curve uses the whole width, and names stand in it. */
function firstPicture(result: SweepResult, picture: string): string {
  if (picture === '' || picture !== loadChart(result)) return figure([picture], '');
  const { length } = result.load!.series;
  const more = length > MOST_LINES ? paragraph(`The first ${MOST_LINES} of ${length} series are drawn.`) : '';
  return `<div class="picture">${picture}</div>${more}`;
}

function figure(charts: readonly string[], legendText: string): string {
  const drawn = charts.filter((chart) => chart !== '');
  return drawn.length === 0 ? '' : `${legendText}<div class="panels">\n${drawn.join('\n')}\n</div>`;
}

function measureTitle({ metrics }: SweepResult): (measure: Measure) => string {
  return (measure) => {
    if (measure.kind === 'gpus') return 'GPUs';
    const metric = measure.kind === 'metric' ? metrics.find(({ key }) => key === measure.key) : undefined;
    return metric === undefined ? measure.name : columnTitle(metric);
  };
}

/** The best point and the front. */
function winners(result: SweepResult): string {
  const { document } = result;
  const chosen = document.points.filter((point, i) => i === document.best || point.pareto);
  return chosen.length === 0 ? '' : table(result, chosen);
}

function table({ document, headline }: SweepResult, points: readonly SweptPoint[]): string {
  const head = [...document.axes.map(({ name }) => name), 'GPUs', '', ...headline.map(columnTitle)];
  const rows = points.slice(0, MOST_ROWS).map((point) => [
    ...document.axes.map(({ name }) => point.settings[name]!),
    String(point.gpus),
    markOf(document, point),
    ...headline.map((metric) => {
      const value = point.metrics[metric.key] ?? null;
      if (value === null) return '-';
      // The lower end may be cut at 0.
      const interval = value.high === null ? '' : ` ± ${amount(metric, value.high - value.mean)}`;
      return amount(metric, value.mean) + interval;
    }),
  ]);
  const more =
    points.length > MOST_ROWS ? paragraph(`${points.length - MOST_ROWS} more in --format csv and json.`) : '';
  return `<div class="scroll">${htmlTable([head, ...rows])}</div>${more}`;
}

/** Of the winners, as many as can be told apart. */
function latencies(result: SweepResult): string {
  const { best, pareto } = result.document;
  const shown = [...new Set([...(best === null ? [] : [best]), ...pareto])].slice(0, MOST_LINES);
  const own = shown.length > 0 ? shown : result.document.points.slice(0, MOST_LINES).map((_, i) => i);
  const charts = [
    cdfChart(result, 'ttftMs', 'Time to first token', own),
    cdfChart(result, 'e2eMs', 'Whole request', own),
  ];
  const names = own.map((at) => result.document.points[at]!.name);
  const note =
    'The mean over seeds of each percentile. Times are on a scale of powers of ten, requests on one of the slowest tenth, hundredth and thousandth.';
  const drawn = figure(charts, legend(names));
  return drawn === '' ? '' : `${paragraph(note)}\n${drawn}`;
}

function refused({ document }: SweepResult): string {
  const rows = document.refused_points.slice(0, MOST_ROWS).map(({ reason, settings }) => [
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(', '),
    reason,
  ]);
  return rows.length === 0 ? '' : `<div class="scroll">${htmlTable([['point', 'reason'], ...rows])}</div>`;
}

function method({ document }: SweepResult): string {
  return [
    `${document.intervals}.`,
    ...(document.constraints.length === 0
      ? []
      : [`A point keeps the constraints (${document.constraints.join('; ')}) where each holds with every seed.`]),
    `The best point is the best by ${document.best_by.join(', then ')}. The Pareto front weighs ${document.pareto_by.join(', ')}: no other point is as good in all of them and better in one.`,
    ...document.notes,
    ...document.step_times.map((text) => `Step times: ${text}.`),
  ]
    .map(paragraph)
    .join('\n');
}

function legend(names: readonly string[]): string {
  if (names.length === 0) return '';
  const items = names.map((name, i) => `<li><span class="swatch c${i % COLOURS}"></span>${escaped(name)}</li>`);
  return `<ul class="legend">${items.join('')}</ul>\n`;
}

function paragraph(text: string): string {
  return `<p>${escaped(text)}</p>`;
}
