import type { CalibrationPoints, MetricName } from '../../observe/calibrate/calibration.js';
import type { Point } from '../chart/chart.js';
import { drawPanel } from '../chart/panel.js';
import { least, linearScale, logScale, most, type Scale } from '../chart/scale.js';
import { drawScatter } from '../chart/scatter.js';
import { timeUnit } from '../text/time-span.js';

const PANEL = { width: 460, height: 300 };
/** The colour of each series, the same in all charts of a page. */
export const COLOUR_OF = { measured: 0, predicted: 1, 'single requests': 2, 'middle error': 3, 'no error': 7 } as const;
/** More points could not be distinguished. */
export const MOST_POINTS = 2000;
const QUANTILES = 200;
/** Sections of an axis whose median error is drawn as a line. */
const BINS = 12;

/** The pairs that have a measure, in order of sending. */
interface Sides {
  realMs: number[];
  simMs: number[];
  load: number[];
  sentS: number[];
}

/** Four views of one measure: distributions, request against request, and errors along load and time. */
export function metricCharts(points: CalibrationPoints, name: MetricName, title: string): string[] {
  const sides = sidesOf(points, name);
  const unit = timeUnit(most(sides.sentS));
  const time = sides.sentS.map((s) => s / unit.size);
  return [
    distributions(sides, title),
    requestByRequest(sides, title),
    errorAlong(sides, sides.load, `${title}: error by load`, 'requests under way when it was sent'),
    errorAlong(sides, time, `${title}: error over time`, `time, ${unit.name}`),
  ];
}

function sidesOf({ load, metrics, sentS }: CalibrationPoints, name: MetricName): Sides {
  const { realMs, simMs } = metrics[name]!;
  const sides: Sides = { realMs: [], simMs: [], load: [], sentS: [] };
  for (let i = 0; i < realMs.length; i++) {
    if (Number.isNaN(realMs[i]!) || Number.isNaN(simMs[i]!)) continue;
    sides.realMs.push(realMs[i]!);
    sides.simMs.push(simMs[i]!);
    sides.load.push(load[i]!);
    sides.sentS.push(sentS[i]!);
  }
  return sides;
}

function distributions({ realMs, simMs }: Sides, title: string): string {
  return drawPanel(
    {
      title: `${title}: distribution`,
      x: { title: 'ms', scale: timeScale([...realMs, ...simMs]) },
      y: { title: '% of requests up to', scale: linearScale(0, 100) },
      lines: [
        { name: 'measured', colour: COLOUR_OF.measured, points: distribution(realMs) },
        { name: 'predicted', colour: COLOUR_OF.predicted, points: distribution(simMs) },
      ],
    },
    PANEL,
  );
}

function distribution(values: readonly number[]): Point[] {
  const sorted = Float64Array.from(values).sort();
  const steps = Math.min(QUANTILES, sorted.length);
  return Array.from({ length: steps }, (_, i): Point => {
    const upTo = Math.round(((i + 1) * sorted.length) / steps);
    return [sorted[upTo - 1]!, (100 * upTo) / sorted.length];
  });
}

function requestByRequest({ realMs, simMs }: Sides, title: string): string {
  const scale = timeScale([...realMs, ...simMs]);
  const ends = [scale.ticks[0]!, scale.ticks.at(-1)!];
  return drawScatter(
    {
      title: `${title}: request by request`,
      x: { title: 'measured, ms', scale },
      y: { title: 'predicted, ms', scale },
      name: 'single requests',
      colour: COLOUR_OF['single requests'],
      points: thinned(realMs.map((real, i): Point => [real, simMs[i]!])),
      line: { name: 'no error', colour: COLOUR_OF['no error'], points: ends.map((ms): Point => [ms, ms]) },
    },
    PANEL,
  );
}

/** Errors in per cent of what was measured; the farthest hundredth on either side is drawn at the edge. */
function errorAlong({ realMs, simMs }: Sides, along: readonly number[], title: string, xTitle: string): string {
  const points = along.flatMap((x, i): Point[] =>
    realMs[i]! > 0 ? [[x, (100 * (simMs[i]! - realMs[i]!)) / realMs[i]!]] : [],
  );
  const errors = Float64Array.from(points, ([, error]) => error).sort();
  const low = errors[Math.floor(errors.length * 0.01)] ?? 0;
  const high = errors[Math.ceil(errors.length * 0.99) - 1] ?? 0;
  return drawScatter(
    {
      title,
      x: { title: xTitle, scale: linearScale(0, most(along)) },
      y: { title: 'error, %', scale: linearScale(Math.min(0, low), Math.max(0, high)) },
      name: 'single requests',
      colour: COLOUR_OF['single requests'],
      points: thinned(points),
      line: { name: 'middle error', colour: COLOUR_OF['middle error'], points: middles(points) },
    },
    PANEL,
  );
}

/** The median error in each section of the axis that has points. */
function middles(points: readonly Point[]): Point[] {
  const end = most(points.map(([x]) => x));
  const bins = Array.from({ length: BINS }, (): Point[] => []);
  for (const point of points) {
    bins[end === 0 ? 0 : Math.min(BINS - 1, Math.floor((point[0] / end) * BINS))]!.push(point);
  }
  return bins
    .filter((bin) => bin.length > 0)
    .map((bin): Point => [middle(bin.map(([x]) => x)), middle(bin.map(([, error]) => error))]);
}

function middle(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.floor(sorted.length / 2)]!;
}

/** Every n-th, so that at most as many are left as can be drawn. */
function thinned(points: readonly Point[]): readonly Point[] {
  const every = Math.ceil(points.length / MOST_POINTS);
  return points.filter((_, i) => i % every === 0);
}

/** Times over several orders of magnitude use a logarithmic axis. */
function timeScale(values: readonly number[]): Scale {
  const positive = values.filter((ms) => ms > 0);
  if (positive.length === 0) return linearScale(0, 1);
  const [low, high] = [least(positive), most(positive)];
  return high > 10 * low ? logScale(low, high) : linearScale(low, high);
}
