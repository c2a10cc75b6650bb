import { type Scale, tickLabel } from './scale.js';
import { coordinate, element, label, path } from './svg.js';

export type Point = readonly [x: number, y: number];

/** Some data and how it is drawn. `steps`: a value holds until the next; `bars`: each from its x to the next one's. */
export interface Series {
  name: string;
  shape: 'line' | 'steps' | 'bars';
  points: readonly Point[];
}

export interface ChartAxis {
  title: string;
  scale: Scale;
}

export interface Chart {
  title: string;
  x: ChartAxis;
  y: ChartAxis;
  series: readonly Series[];
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const SPACE = { left: 52, right: 14, top: 52, bottom: 42 };
/** About as wide as a letter is. */
const LETTER = 6.5;
/** Colours that the style of a figure defines. */
const COLOURS = 4;

/** A chart with its axes as the content of an SVG. Colours and fonts are classes: a figure defines them. */
export function drawChart(chart: Chart, box: Box): string {
  const plot = {
    x: box.x + SPACE.left,
    y: box.y + SPACE.top,
    width: box.width - SPACE.left - SPACE.right,
    height: box.height - SPACE.top - SPACE.bottom,
  };
  const atX = (value: number) => plot.x + plot.width * chart.x.scale.at(value);
  const atY = (value: number) => plot.y + plot.height * (1 - chart.y.scale.at(value));
  const parts = [
    label('ink title', box.x + 8, box.y + 20, chart.title),
    ...legend(chart.series, box),
    ...axes(chart, plot, atX, atY),
    ...chart.series.map((series, i) => shape(series, i % COLOURS, atX, atY, plot)),
  ];
  return element('g', { role: 'img', 'aria-label': chart.title }, parts.join('\n'));
}

export function axes(
  chart: Omit<Chart, 'series'>,
  plot: Box,
  atX: (x: number) => number,
  atY: (y: number) => number,
): string[] {
  const bottom = plot.y + plot.height;
  return [
    ...chart.y.scale.ticks.flatMap((tick) => [
      element('path', {
        class: 'grid',
        d: `M${coordinate(plot.x)} ${coordinate(atY(tick))}h${coordinate(plot.width)}`,
      }),
      label('tick end', plot.x - 6, atY(tick) + 4, tickLabel(tick)),
    ]),
    ...chart.x.scale.ticks.map((tick) => label('tick middle', atX(tick), bottom + 16, tickLabel(tick))),
    element('path', { class: 'axis', d: `M${coordinate(plot.x)} ${coordinate(bottom)}h${coordinate(plot.width)}` }),
    label('axis-title middle', plot.x + plot.width / 2, bottom + 34, chart.x.title),
    label('axis-title', plot.x - 44, plot.y - 10, chart.y.title),
  ];
}

/** Names on the right, below the title; one series needs none. */
function legend(series: readonly Series[], box: Box): string[] {
  if (series.length < 2) return [];
  let x = box.x + box.width - SPACE.right;
  return series
    .map(({ name }, i) => ({ name, colour: i % COLOURS }))
    .reverse()
    .flatMap(({ name, colour }) => {
      x -= LETTER * name.length;
      const text = label('tick', x, box.y + 42, name);
      const mark = element('rect', {
        class: `fill c${colour}`,
        x: x - 14,
        y: box.y + 33,
        width: 10,
        height: 10,
        rx: 2,
      });
      x -= 26;
      return [mark, text];
    });
}

function shape(
  { shape, points }: Series,
  colour: number,
  atX: (x: number) => number,
  atY: (y: number) => number,
  plot: Box,
): string {
  if (shape === 'bars') {
    const bars = points.slice(0, -1).flatMap(([x, y], i): string[] => {
      if (y === 0) return [];
      const width = Math.max(0.5, atX(points[i + 1]![0]) - atX(x) - 0.5);
      return [element('rect', { x: atX(x), y: atY(y), width, height: plot.y + plot.height - atY(y) })];
    });
    return element('g', { class: `fill c${colour}` }, bars.join('\n'));
  }
  const corners = points.flatMap(([x, y], i): Point[] => {
    const before = points[i - 1];
    const here: Point = [atX(x), atY(y)];
    return shape === 'steps' && before !== undefined ? [[here[0], atY(before[1])], here] : [here];
  });
  return element('path', { class: `line c${colour}`, d: path(corners) });
}
