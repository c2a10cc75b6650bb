import type { Metric } from '../../experiment/metrics.js';
import type { Measure, Objective } from '../../experiment/sweep/measure.js';
import type { SweepResult, SweptPoint } from '../../experiment/sweep/sweep-document.js';
import { drawBarRows } from '../chart/bar-rows.js';
import type { ChartAxis, Point } from '../chart/chart.js';
import { drawHeatMap, type HeatCell } from '../chart/heat-map.js';
import { drawLoadCurve } from '../chart/load-curve.js';
import { drawPanel, type PanelLine } from '../chart/panel.js';
import { least, linearScale, logScale, most, type Scale } from '../chart/scale.js';
import { COLOURS } from '../page/chart-style.js';
import { amount, amountWithUnit, unitText } from '../text/metric-text.js';

const PANEL = { width: 460, height: 300 };
/** More lines than this cannot be told apart. */
export const MOST_LINES = 8;
/** Bars of a chart, and cells along an axis of a heat map. */
const MOST_BARS = 24;
const MOST_CELLS = 12;
/** Drawn grey, as bounds and points besides the front are. */
const GREY = COLOURS - 1;

/** A metric along the load, a line for each series, with the bound; empty where the load does not vary. */
export function loadChart({ load, main }: SweepResult): string {
  if (load === null) return '';
  const { metric, bound } = main;
  const scaled = (value: number) => (metric.unit === 'share' ? value * 100 : value);
  const series = load.series.slice(0, MOST_LINES).map(({ name, points }, i) => ({
    name: name === '' ? metric.title : name,
    colour: i % COLOURS,
    points: points.flatMap(({ load: x, point }) => {
      const found = point.metrics[metric.key] ?? null;
      if (found === null) return [];
      const [value, low, high] = [found.mean, found.low ?? found.mean, found.high ?? found.mean].map(scaled);
      return { x, value: value!, low: low!, high: high!, saturated: point.saturated_runs > 0 };
    }),
  }));
  return drawLoadCurve({
    title: `${metric.title} against ${load.name}`,
    x: `${load.name}, ${load.unit}`,
    y: [metric.title, unitText(metric)].filter(Boolean).join(', '),
    series,
    limit: bound === null ? null : { value: scaled(bound), text: `bound ${amountWithUnit(metric, bound)}` },
  });
}

/** Every point by two measures, the Pareto front as a line; empty where only one measure is weighed. */
export function paretoChart({ document, objectives }: SweepResult, title: (measure: Measure) => string): string {
  const [y, x] = objectives.pareto;
  if (x === undefined) return '';
  const placed = document.points.flatMap((point) => {
    const at = [measuredAt(x, point), measuredAt(y!, point)];
    return at.includes(null) ? [] : [{ point, at: at as [number, number] }];
  });
  if (placed.length < 2) return '';
  const front = placed.filter(({ point }) => point.pareto).sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1]);
  const others = placed.filter(({ point }) => !point.pareto);
  // A third measure lets several points of the front share a place on the first: a line would jump between them.
  const isLine = objectives.pareto.length === 2;
  const dot = ({ at, point }: { at: [number, number]; point: SweptPoint }, colour: number): PanelLine => ({
    name: point.name,
    colour,
    points: [at],
    dots: true,
  });
  return drawPanel(
    {
      title: `Pareto front: ${title(y!.measure)} against ${title(x.measure)}`,
      x: { title: title(x.measure), scale: xScale(placed.map(({ at }) => at[0])) },
      y: { title: title(y!.measure), scale: yScale(placed.map(({ at }) => at[1])) },
      lines: [
        ...others.map((one) => dot(one, GREY)),
        ...(isLine && front.length > 1 ? [{ name: 'Pareto front', colour: 0, points: front.map(({ at }) => at) }] : []),
        ...front.map((one) => dot(one, 0)),
      ],
    },
    PANEL,
  );
}

function measuredAt({ measure }: Objective, point: SweptPoint): number | null {
  if (measure.kind === 'metric') return point.metrics[measure.key]?.mean ?? null;
  const value = measure.kind === 'gpus' ? point.gpus : Number(point.settings[measure.name]);
  return Number.isNaN(value) ? null : value;
}

/** A metric over the two axes of a grid; empty for any other sweep. */
export function heatChart({ axes, document }: SweepResult, metric: Metric): string {
  const [y, x] = axes;
  if (axes.length !== 2 || x!.values.kind !== 'list' || y!.values.kind !== 'list' || document.sample !== 'grid')
    return '';
  const [columns, rows] = [x!.values.values, y!.values.values];
  if (columns.length > MOST_CELLS || rows.length > MOST_CELLS) return '';
  const values = document.points.flatMap(({ metrics }) => metrics[metric.key]?.mean ?? []);
  const shade = shadeOf(metric, values);
  const cells = rows.map((row) =>
    columns.map((column): HeatCell => {
      const point = document.points.find(({ settings }) => settings[y!.name] === row && settings[x!.name] === column);
      const value = point?.metrics[metric.key] ?? null;
      if (point === undefined || value === null) return { text: '', shade: null, isBroken: false };
      return { text: amount(metric, value.mean), shade: shade(value.mean), isBroken: !point.feasible };
    }),
  );
  const title = [`${metric.title}`, unitText(metric)].filter(Boolean).join(', ');
  return drawHeatMap({ title, x: { title: x!.name, values: columns }, y: { title: y!.name, values: rows }, cells });
}

/** By order of magnitude for latencies: one bad corner would leave all others the same. */
function shadeOf({ better, unit }: Metric, values: readonly number[]): (value: number) => number {
  const on = (value: number) => (unit === 'ms' && least(values) > 0 ? Math.log(value) : value);
  const [low, high] = [on(least(values)), on(most(values))];
  return (value) => {
    const share = high > low ? (on(value) - low) / (high - low) : 0;
    return better === 'less' ? share : 1 - share;
  };
}

/** A metric along the only axis, or as bars where its values are names or there are more axes. */
export function metricAlong({ axes, document, load }: SweepResult, metric: Metric): string {
  const points = document.points.filter(({ metrics }) => (metrics[metric.key] ?? null) !== null);
  if (load !== null || points.length === 0 || points.length > MOST_BARS) return '';
  const rows = points.map((point) => {
    const { mean, low, high } = point.metrics[metric.key]!;
    const colour = point.feasible ? 0 : GREY;
    const name = axes.length === 1 ? point.settings[axes[0]!.name]! : point.name;
    return { name, colour, value: mean, low: low ?? mean, high: high ?? mean, text: amountWithUnit(metric, mean) };
  });
  return drawBarRows(metric.title, rows);
}

/** Per cent of requests with equal space for the slowest tenth, hundredth and thousandth. */
const TAIL: Scale = {
  ticks: [0, 50, 90, 99, 99.9],
  at: (percent) => Math.min(1, -Math.log10(Math.max(0.001, 1 - percent / 100)) / 3),
};

/** How many per cent of requests had at most which latency, at some of the points. */
export function cdfChart(
  { curves, document, quantiles }: SweepResult,
  key: 'ttftMs' | 'e2eMs',
  title: string,
  shown: readonly number[],
): string {
  const lines = shown.flatMap((at, i): PanelLine[] => {
    const points = curves[at]![key].map((ms, q): Point => [ms, quantiles[q]!]);
    const drawn = points.filter(([ms, percent]) => ms > 0 && percent <= 99.9);
    return drawn.length === 0 ? [] : [{ name: document.points[at]!.name, colour: i % COLOURS, points: drawn }];
  });
  if (lines.length === 0) return '';
  const values = lines.flatMap(({ points }) => points.map(([ms]) => ms));
  const x: ChartAxis = { title: 'ms', scale: logScale(least(values), most(values)) };
  return drawPanel({ title, x, y: { title: '% of requests up to', scale: TAIL }, lines }, PANEL);
}

function xScale(values: readonly number[]): Scale {
  const [low, high] = [least(values), most(values)];
  return low > 0 && high > 30 * low ? logScale(low, high) : linearScale(Math.min(0, low), high);
}

/** Latencies over several orders of magnitude use a logarithmic axis. */
function yScale(values: readonly number[]): Scale {
  const [low, high] = [least(values), most(values)];
  return low > 0 && high > 30 * low ? logScale(low, high) : linearScale(0, Math.max(0, high));
}
