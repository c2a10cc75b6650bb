import type {
  ComparedVariant,
  Comparison,
  ComparisonDocument,
  VariantCurves,
} from '../../experiment/comparison/comparison.js';
import type { ExperimentAxis } from '../../experiment/experiment.js';
import type { Metric, MetricKey } from '../../experiment/metrics.js';
import { drawBarRows } from '../chart/bar-rows.js';
import type { Point } from '../chart/chart.js';
import { drawLoadCurve } from '../chart/load-curve.js';
import { drawPanel, type PanelLine } from '../chart/panel.js';
import { least, linearScale, logScale, most, type Scale } from '../chart/scale.js';
import { COLOURS } from '../page/chart-style.js';
import { amountWithUnit, unitText } from '../text/metric-text.js';

const PANEL = { width: 460, height: 300 };

/** The colour of a variant: that of its series. */
export function colourOf(document: ComparisonDocument, { series }: ComparedVariant): number {
  return seriesOf(document).indexOf(series) % COLOURS;
}

export function seriesOf({ variants }: ComparisonDocument): string[] {
  return [...new Set(variants.map(({ series }) => series))];
}

/** Steps of the axis, in order; one null where nothing is varied in steps. */
export function stepsOf({ variants }: ComparisonDocument): (number | null)[] {
  return [...new Set(variants.map(({ x }) => x))];
}

export function stepText({ title, unit }: ExperimentAxis, x: number): string {
  return unit === '' ? `${title} ${x}` : `${x} ${unit}`;
}

/** A measure of every variant: along the axis where there is one, else as bars. Whiskers reach from the least to the most. */
export function metricChart(document: ComparisonDocument, metric: Metric): string {
  const { axis } = document.comparison;
  return axis === null ? metricBars(document, metric) : metricAlongAxis(document, metric, axis);
}

function metricBars(document: ComparisonDocument, metric: Metric): string {
  const rows = document.variants.flatMap((variant) => {
    const summary = variant.metrics[metric.key] ?? null;
    if (summary === null) return [];
    const { mean, min, max } = summary;
    const colour = colourOf(document, variant);
    return { name: variant.name, colour, value: mean, low: min, high: max, text: amountWithUnit(metric, mean) };
  });
  return rows.length === 0 ? '' : drawBarRows(metric.title, rows);
}

function metricAlongAxis(document: ComparisonDocument, metric: Metric, axis: ExperimentAxis): string {
  const scaled = (value: number) => (metric.unit === 'share' ? value * 100 : value);
  const lines = seriesOf(document).map((series, i): PanelLine => {
    const own = document.variants.filter(
      (variant) => variant.series === series && (variant.metrics[metric.key] ?? null) !== null,
    );
    const summaries = own.map((variant) => variant.metrics[metric.key]!);
    return {
      name: series,
      colour: i % COLOURS,
      points: summaries.map(({ mean }, at): Point => [own[at]!.x!, scaled(mean)]),
      spans: summaries.map(({ min, max }) => [scaled(min), scaled(max)]),
      dots: true,
    };
  });
  const xs = document.variants.map(({ x }) => x!);
  const ys = lines.flatMap(({ spans }) => spans!.flat());
  return drawPanel(
    {
      title: `${metric.title} against ${axis.title}`,
      x: {
        title: axis.unit === '' ? axis.title : `${axis.title}, ${axis.unit}`,
        scale: linearScale(Math.min(0, ...xs), Math.max(...xs)),
      },
      y: { title: unitText(metric), scale: valueScale(metric, ys) },
      lines: lines.filter(({ points }) => points.length > 0),
    },
    PANEL,
  );
}

/** A measure along the axis as one wide picture, with the SLO drawn in and saturated runs marked. */
export function axisCurve(document: ComparisonDocument, metric: Metric, axis: ExperimentAxis): string {
  const scaled = (value: number) => (metric.unit === 'share' ? value * 100 : value);
  const { slo } = document.comparison;
  const series = seriesOf(document).map((name, i) => ({
    name,
    colour: i % COLOURS,
    points: document.variants.flatMap(({ series, x, metrics, saturation }) => {
      const summary = metrics[metric.key] ?? null;
      if (series !== name || x === null || summary === null) return [];
      const [value, low, high] = [summary.mean, summary.min, summary.max].map(scaled) as [number, number, number];
      return { x, value, low, high, saturated: saturation.state === 'saturated' };
    }),
  }));
  return drawLoadCurve({
    title: `${metric.title} against ${axis.title}`,
    x: axis.unit === '' ? axis.title : `${axis.title}, ${axis.unit}`,
    y: `${metric.title}, ${unitText(metric)}`,
    series,
    limit: slo?.metric === metric.key ? { value: slo.limit, text: `SLO ${amountWithUnit(metric, slo.limit)}` } : null,
  });
}

/** Latencies over several orders of magnitude use a logarithmic axis. */
function valueScale({ unit }: Metric, values: readonly number[]): Scale {
  const [low, high] = [least(values), most(values)];
  return unit === 'ms' && low > 0 && high > 30 * low ? logScale(low, high) : linearScale(0, Math.max(0, high));
}

/**
 * Per cent of requests with equal space for the slowest tenth, hundredth and thousandth: that is where policies differ.
 */
const TAIL: Scale = {
  ticks: [0, 50, 90, 99, 99.9],
  at: (percent) => Math.min(1, -Math.log10(Math.max(0.001, 1 - percent / 100)) / 3),
};

/** For each step of the axis, how many per cent of requests had at most which latency. */
export function latencyCharts(
  { document, curves, quantiles }: Comparison,
  key: 'ttftMs' | 'e2eMs',
  title: string,
): string[] {
  const { axis } = document.comparison;
  const values = curves.flatMap((curve) => curve[key]).filter((ms) => ms > 0);
  if (values.length === 0) return [];
  // The same axis in every panel: panels are there to be compared.
  const scale = logScale(least(values), most(values));
  return stepsOf(document).map((x) => {
    const lines = document.variants.flatMap((variant, i): PanelLine[] => {
      if (variant.x !== x) return [];
      return [{ name: variant.name, colour: colourOf(document, variant), points: cdf(curves[i]!, key, quantiles) }];
    });
    return drawPanel(
      {
        title: axis === null || x === null ? title : `${title}, ${stepText(axis, x)}`,
        x: { title: 'ms', scale },
        y: { title: '% of requests up to', scale: TAIL },
        lines: lines.filter(({ points }) => points.length > 0),
      },
      PANEL,
    );
  });
}

function cdf(curves: VariantCurves, key: 'ttftMs' | 'e2eMs', quantiles: readonly number[]): Point[] {
  const points = curves[key].map((ms, i): Point => [ms, quantiles[i]!]);
  return points.filter(([, percent]) => percent <= TAIL.ticks.at(-1)!);
}

export function measures(document: ComparisonDocument, key: MetricKey): boolean {
  return document.variants.some(({ metrics }) => (metrics[key]?.max ?? 0) > 0);
}
