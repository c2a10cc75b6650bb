import { axes, type ChartAxis, type Point } from './chart.js';
import { picture } from './panel.js';
import { least, linearScale, logScale, most, type Scale } from './scale.js';
import { coordinate, element, escaped, label, path } from './svg.js';

/** A point of a curve: the mean over runs, and how far they reach. */
export interface CurvePoint {
  x: number;
  value: number;
  low: number;
  high: number;
  /** The backlog grew until the end: the value depends on the length of the run. */
  saturated: boolean;
}

export interface LoadCurveSeries {
  name: string;
  /** Index of a colour of the page. */
  colour: number;
  points: readonly CurvePoint[];
}

export interface LoadCurve {
  title: string;
  x: string;
  y: string;
  series: readonly LoadCurveSeries[];
  /** The SLO: what values must not exceed. */
  limit: { value: number; text: string } | null;
}

const SIZE = { width: 940, height: 420 };
const SPACE = { left: 64, right: 170, top: 56, bottom: 46 };
/** From the lowest to the highest value: wider spans are drawn on a logarithmic axis. */
const WIDE_SPAN = 30;
/** Intervals that reach further down than by this factor are cut at the axis: they would leave no room for the curve. */
const MOST_REACH = 10;
/** The least distance between two names at the right. */
const NAME_GAP = 15;

/** A measure against the load, or any other number, with the SLO drawn in; names stand at the ends of their curves. */
export function drawLoadCurve({ title, x, y, series, limit }: LoadCurve): string {
  const shown = series.filter(({ points }) => points.length > 0);
  if (shown.length === 0) return '';
  const plot = {
    x: SPACE.left,
    y: SPACE.top,
    width: SIZE.width - SPACE.left - SPACE.right,
    height: SIZE.height - SPACE.top - SPACE.bottom,
  };
  const points = shown.flatMap((one) => one.points);
  const xs = points.map((point) => point.x);
  const limits = limit === null ? [] : [limit.value];
  const values = [...points.flatMap(({ low, value, high }) => [Math.max(low, value / MOST_REACH), high]), ...limits];
  const chart = {
    title,
    x: { title: x, scale: linearScale(Math.min(0, ...xs), Math.max(...xs)) },
    y: { title: y, scale: curveScale(values) } satisfies ChartAxis,
  };
  const atX = (value: number) => plot.x + plot.width * chart.x.scale.at(value);
  const atY = (value: number) => plot.y + plot.height * (1 - chart.y.scale.at(value));
  const someSaturated = points.some(({ saturated }) => saturated);
  return picture(title, SIZE, [
    label('ink title', 8, 20, title),
    ...(someSaturated
      ? [label('tick end', SIZE.width - 8, 20, 'hollow: saturated, the value grows with the length of the run')]
      : []),
    ...axes(chart, plot, atX, atY),
    ...(limit === null ? [] : limitLine(limit, plot.x, plot.width, atY(limit.value))),
    ...shown.map((one) => curve(one, atX, atY)),
    ...names(shown, plot.x + plot.width + 10, atY),
  ]);
}

function curveScale(values: readonly number[]): Scale {
  const [low, high] = [least(values), most(values)];
  return low > 0 && high > WIDE_SPAN * low ? logScale(low, high) : linearScale(0, Math.max(0, high));
}

function limitLine({ text }: { text: string }, x: number, width: number, y: number): string[] {
  return [
    element('path', { class: 'limit', d: `M${coordinate(x)} ${coordinate(y)}h${coordinate(width)}` }),
    label('ink', x + 6, y - 5, text),
  ];
}

function curve(
  { name, colour, points }: LoadCurveSeries,
  atX: (x: number) => number,
  atY: (y: number) => number,
): string {
  const places = points.map(({ x, value }): Point => [atX(x), atY(value)]);
  const spans = points
    .filter(({ low, high }) => high > low)
    .map(({ x, low, high }) => `M${coordinate(atX(x))} ${coordinate(atY(low))}V${coordinate(atY(high))}`);
  const marks = points.map(({ saturated }, i) => {
    const [cx, cy] = places[i]!;
    return element('circle', { class: saturated ? `hollow c${colour}` : `fill c${colour}`, cx, cy, r: 4 });
  });
  const parts = [
    element('title', {}, escaped(name)),
    element('path', { class: `line c${colour}`, d: path(places) }),
    ...(spans.length === 0 ? [] : [element('path', { class: `line thin c${colour}`, d: spans.join('') })]),
    ...marks,
  ];
  return element('g', {}, parts.join(''));
}

/** Beside the last points, moved apart where curves end close together. */
function names(series: readonly LoadCurveSeries[], x: number, atY: (y: number) => number): string[] {
  let above = Number.NEGATIVE_INFINITY;
  return series
    .map(({ name, colour, points }) => ({ name, colour, y: atY(points.at(-1)!.value) }))
    .sort((a, b) => a.y - b.y)
    .flatMap(({ name, colour, y }) => {
      above = Math.max(y, above + NAME_GAP);
      return [
        element('rect', { class: `fill c${colour}`, x, y: above - 5, width: 10, height: 10, rx: 2 }),
        label('ink', x + 15, above + 4, name.length > 24 ? `${name.slice(0, 23)}…` : name),
      ];
    });
}
