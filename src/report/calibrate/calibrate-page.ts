import type {
  Calibration,
  CalibrationDocument,
  CalibrationPoints,
  MetricName,
} from '../../observe/calibrate/calibration.js';
import { escaped } from '../chart/svg.js';
import { CHART_STYLE } from '../page/chart-style.js';
import { htmlPage, htmlTable } from '../page/html-page.js';
import { COLOUR_OF, MOST_POINTS, metricCharts } from './calibrate-charts.js';
import {
  calibrationHeadline,
  errorRows,
  failureRows,
  goodputRows,
  levelRows,
  METRIC_TITLES,
  requestRows,
  verdictRows,
} from './calibrate-table.js';

const STYLE = `${CHART_STYLE}
.line.dots { stroke-width: 5; stroke-linecap: round; opacity: 0.5; }
`;

/** The comparison as a self-contained page. @param title names both sides */
export function calibrationPage({ document, points }: Calibration, title: string): string {
  const sections = [
    `<h1>${escaped(title)}</h1>\n${paragraph(`${calibrationHeadline(document)}.`)}`,
    section(
      'How good the prediction is',
      table(errorRows(document)),
      table(requestRows(document)),
      table(verdictRows(document)),
    ),
    section(
      'Both sides',
      table(named(levelRows(document))),
      table(failureRows(document)),
      table(goodputRows(document)),
    ),
    ...(Object.keys(points.metrics) as MetricName[]).map((name) => metricSection(points, name)),
    section('Notes', list(document.notes)),
    section('How to read this', ...method(document, points).map(paragraph)),
  ];
  return htmlPage(title, sections.filter((text) => text !== '').join('\n'), STYLE);
}

function metricSection(points: CalibrationPoints, name: MetricName): string {
  const title = `${METRIC_TITLES[name][0]!.toUpperCase()}${METRIC_TITLES[name].slice(1)}`;
  const legend = Object.entries(COLOUR_OF).map(
    ([text, colour]) => `<li><span class="swatch c${colour}"></span>${text}</li>`,
  );
  const charts = metricCharts(points, name, title).join('\n');
  return section(title, `<ul class="legend">${legend.join('')}</ul>\n<div class="panels">\n${charts}\n</div>`);
}

function method({ known_limitations, repeatability }: CalibrationDocument, { sentS }: CalibrationPoints): string[] {
  const thinned = `Of ${sentS.length} requests every so many is drawn as a dot, up to ${MOST_POINTS}; numbers and lines are of all.`;
  return [
    `A grade compares the errors of the mean, the median, the 90th percentile and the median single request with what a repeat of the run differs (${repeatability}): the largest of them is at most twice that for excellent, five times for good, ten times for fair.`,
    'Intervals hold 95 %. The error follows from drawing blocks of consecutive requests again and again; the prediction also holds what a repeat differs.',
    'MAPE is the mean of the absolute errors of single requests, each as a share of what was measured; r is their correlation.',
    'Errors are predicted less measured, in per cent of what was measured. The line among the dots joins the middle errors of twelve parts of the axis; the farthest hundredth on either side is drawn at the edge.',
    ...(sentS.length > MOST_POINTS ? [thinned] : []),
    ...known_limitations,
  ];
}

function section(title: string, ...parts: readonly string[]): string {
  const text = parts.filter((part) => part !== '').join('\n');
  return text === '' ? '' : `<h2>${escaped(title)}</h2>\n${text}`;
}

function table(rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : `<div class="scroll">${htmlTable(rows)}</div>`;
}

/** Rows that leave out their name because it is that of the row above, with it. */
function named(rows: readonly (readonly string[])[]): string[][] {
  let name = '';
  return rows.map(([first, ...rest]) => {
    name = first || name;
    return [name, ...rest];
  });
}

function list(items: readonly string[]): string {
  return items.length === 0 ? '' : `<ul>${items.map((item) => `<li>${escaped(item)}</li>`).join('')}</ul>`;
}

function paragraph(text: string): string {
  return `<p>${escaped(text)}</p>`;
}
