import type { ComparedVariant, Comparison, ComparisonDocument } from '../../experiment/comparison/comparison.js';
import type { MetricKey } from '../../experiment/metrics.js';
import { escaped } from '../chart/svg.js';
import { CHART_STYLE } from '../page/chart-style.js';
import { htmlPage, htmlTable } from '../page/html-page.js';
import { fleetText } from '../text/fleet-text.js';
import { axisCurve, colourOf, latencyCharts, measures, metricChart, seriesOf, stepText } from './compare-charts.js';
import { loadCharts, shownVariants, showsRange, targetCharts } from './compare-fleet-charts.js';
import { compareRows, comparisonHeadline } from './compare-table.js';

/** The comparison as one page that needs nothing else: the verdict and its picture first, then numbers, then explanations. */
export function comparePage(comparison: Comparison): string {
  const { document } = comparison;
  const sections = [
    intro(document),
    section('', picture(comparison)),
    section('Measures', `<div class="scroll">${htmlTable(compareRows(document))}</div>`),
    section('What differs', findings(document)),
    section('Plots', metricPanels(comparison)),
    latencySection(comparison),
    cacheSection(comparison),
    rejectionSection(comparison),
    fleetSections(comparison),
    section('How to read this', method(document)),
  ];
  return htmlPage(document.comparison.title, sections.filter((text) => text !== '').join('\n'), CHART_STYLE);
}

function section(title: string, ...parts: readonly string[]): string {
  const text = parts.filter((part) => part !== '').join('\n');
  if (text === '') return '';
  return title === '' ? text : `<h2>${escaped(title)}</h2>\n${text}`;
}

function intro(document: ComparisonDocument): string {
  const { title, notes, verdict } = document.comparison;
  const fleet = fleetText(document.variants[0]!.config);
  const lines = [`${comparisonHeadline(document)}. First variant: ${fleet}.`, ...notes];
  const heading = `<p class="over">${escaped(title)}</p>\n<h1 class="verdict">${escaped(verdict)}</h1>`;
  return `${heading}\n${lines.map(paragraph).join('\n')}`;
}

/** The sentences of each variant under its name and purpose. */
function findings({ variants, findings }: ComparisonDocument): string {
  return variants
    .filter(({ against }) => against !== null)
    .map((variant) => {
      const own = findings.filter((sentence) => sentence.startsWith(`${variant.name}: `));
      const items = own.map((sentence) => `<li>${escaped(capitalised(sentence.slice(variant.name.length + 2)))}</li>`);
      return `<h3>${escaped(purpose(variant))}</h3>\n<ul>${items.join('')}</ul>`;
    })
    .join('\n');
}

function purpose({ name, against, isolates }: ComparedVariant): string {
  return `${name} against ${against}${isolates === '' ? '' : `: ${isolates}`}`;
}

/** The plot that answers the question: along the axis with the SLO drawn in, or the leading measure of each variant. */
function picture(comparison: Comparison): string {
  const { document, metrics } = comparison;
  const metric = metrics.find(({ key }) => key === leadingKey(document))!;
  const { axis } = document.comparison;
  const drawn = axis === null ? metricChart(document, metric) : axisCurve(document, metric, axis);
  return drawn === '' ? '' : `<div class="picture">\n${drawn}\n</div>`;
}

/** The measure with a limit, or the first tail. */
function leadingKey({ comparison: { slo, headline } }: ComparisonDocument): MetricKey {
  return slo?.metric ?? (headline.find(({ key }) => !CENTRE.includes(key)) ?? headline[0]!).key;
}

/** In the table beside a tail, and no plots of their own. */
const CENTRE: readonly MetricKey[] = ['ttft_p50_ms', 'ttft_mean_ms'];

function metricPanels(comparison: Comparison): string {
  const { document } = comparison;
  const told: MetricKey[] = ['prompt_cache_hit_rate', 'rejected_share', 'goodput_rps', leadingKey(document), ...CENTRE];
  const charts = document.comparison.headline
    .filter(({ key }) => !told.includes(key))
    .map((metric) => metricChart(document, metric));
  return panels(charts, axisLegend(document));
}

function latencySection(comparison: Comparison): string {
  const note =
    'The mean over seeds of each percentile. Both axes are stretched where it matters: times are on a scale of powers of ten, requests on one of the slowest tenth, hundredth and thousandth. Where lines lie on each other the last one is seen.';
  const charts = [
    ...latencyCharts(comparison, 'ttftMs', 'Time to first token'),
    ...latencyCharts(comparison, 'e2eMs', 'Whole request').slice(-1),
  ];
  return section(
    'Latencies',
    paragraph(note),
    panels(
      charts,
      legend(comparison.document, (i) => comparison.curves[i]!.ttftMs.length > 0),
    ),
  );
}

function cacheSection(comparison: Comparison): string {
  if (!measures(comparison.document, 'prompt_cache_hit_rate')) {
    return section('Prompt cache', paragraph('No prompt token was found in a cache: the requests share nothing.'));
  }
  return section(
    'Prompt cache',
    panels(charts(comparison, ['prompt_cache_hit_rate']), axisLegend(comparison.document)),
  );
}

/** Rejections next to goodput: neither means much without the other. */
function rejectionSection(comparison: Comparison): string {
  const { document } = comparison;
  const refused = measures(document, 'rejected_share');
  if (!refused && !measures(document, 'goodput_rps')) {
    return section('Rejections', paragraph('No request was rejected, and no SLO was given (--slo-ttft).'));
  }
  const good: MetricKey = measures(document, 'goodput_rps') ? 'goodput_rps' : 'responses_per_sec';
  const note = refused ? '' : paragraph('No request was rejected.');
  return section(
    'Rejections and goodput',
    note,
    panels(charts(comparison, ['rejected_share', good]), axisLegend(document)),
  );
}

function charts({ document, metrics }: Comparison, keys: readonly MetricKey[]): string[] {
  return keys.map((key) => metricChart(document, metrics.find((metric) => metric.key === key)!));
}

function fleetSections(comparison: Comparison): string {
  const { axis } = comparison.document.comparison;
  const { x } = shownVariants(comparison)[0]!.variant;
  const where = axis === null || x === null ? '' : ` At ${stepText(axis, x)}.`;
  const lines = showsRange(comparison) ? 'the idlest instance, the mean and the busiest' : 'a line for each instance';
  const seed = comparison.document.comparison.seeds[0];
  return [
    section('Requests by instance', paragraph(`The mean over seeds.${where}`), panels(targetCharts(comparison), '')),
    section(
      'Load over time',
      paragraph(`Requests that have arrived for an instance and not left it: ${lines}, with seed ${seed}.${where}`),
      panels(loadCharts(comparison), ''),
    ),
  ].join('\n');
}

function method({ comparison: { intervals, step_times, seeds } }: ComparisonDocument): string {
  return [
    `${intervals}.`,
    ...(seeds.length === 1
      ? []
      : [
          'A difference whose interval includes 0 is inside the noise: other seeds may turn it round, unless all of them agree on the direction.',
          'About one in twenty intervals misses the true difference by chance; the more variants there are, the more of them to expect.',
        ]),
    'Whiskers reach from the lowest to the highest of the seeds.',
    ...step_times.map((text) => `Step times: ${text}.`),
    'Differences between variants are more reliable than the numbers themselves, as long as they exceed that error.',
  ]
    .map(paragraph)
    .join('\n');
}

function panels(drawn: readonly string[], legendText: string): string {
  const some = drawn.filter((chart) => chart !== '');
  return some.length === 0 ? '' : `${legendText}<div class="panels">\n${some.join('\n')}\n</div>`;
}

/** Bars carry their names; lines along an axis need a legend. */
function axisLegend(document: ComparisonDocument): string {
  return document.comparison.axis === null ? '' : legend(document, () => true);
}

/** One for all panels of a section, of the variants that they show: the colour of a series is the same everywhere. */
function legend(document: ComparisonDocument, isShown: (variant: number) => boolean): string {
  const shown = new Set(document.variants.filter((_, i) => isShown(i)).map(({ series }) => series));
  const items = seriesOf(document)
    .filter((series) => shown.has(series))
    .map((series) => {
      const colour = colourOf(document, document.variants.find((variant) => variant.series === series)!);
      return `<li><span class="swatch c${colour}"></span>${escaped(series)}</li>`;
    });
  return items.length < 2 ? '' : `<ul class="legend">${items.join('')}</ul>\n`;
}

function paragraph(text: string): string {
  return `<p>${escaped(text)}</p>`;
}

function capitalised(sentence: string): string {
  return `${sentence[0]!.toUpperCase()}${sentence.slice(1)}`;
}
