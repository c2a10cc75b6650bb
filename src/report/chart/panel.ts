import { axes, type ChartAxis, type Point } from './chart.js';
import { coordinate, element, escaped, label, path } from './svg.js';

/** A line with its colour: the same series has the same colour in every panel of a page. */
export interface PanelLine {
  name: string;
  colour: number;
  points: readonly Point[];
  /** A dot at every point. */
  dots?: boolean;
  /** `thin` lets others of its colour show through; `bar` is as wide as one. */
  width?: 'thin' | 'bar';
  /** At each point, how far down and up it might be. */
  spans?: readonly (readonly [low: number, high: number])[];
}

export interface Panel {
  title: string;
  x: ChartAxis;
  y: ChartAxis;
  lines: readonly PanelLine[];
}

export interface PanelSize {
  width: number;
  height: number;
}

const SPACE = { left: 52, right: 16, top: 48, bottom: 42 };

/** One chart as a separate SVG, for a page that defines its classes and colours. */
export function drawPanel(panel: Panel, { width, height }: PanelSize): string {
  const plot = {
    x: SPACE.left,
    y: SPACE.top,
    width: width - SPACE.left - SPACE.right,
    height: height - SPACE.top - SPACE.bottom,
  };
  const atX = (value: number) => plot.x + plot.width * panel.x.scale.at(value);
  const atY = (value: number) => plot.y + plot.height * (1 - panel.y.scale.at(value));
  const lines = panel.lines.map((line) => drawLine(line, atX, atY));
  return picture(panel.title, { width, height }, [
    label('ink title', 8, 18, panel.title),
    ...axes(panel, plot, atX, atY),
    ...lines,
  ]);
}

export function picture(title: string, { width, height }: PanelSize, parts: readonly string[]): string {
  const attributes = { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': title };
  return element('svg', attributes, `\n${parts.join('\n')}\n`);
}

function drawLine(
  { name, colour, points, dots, width, spans }: PanelLine,
  atX: (x: number) => number,
  atY: (y: number) => number,
): string {
  const places = points.map(([x, y]): Point => [atX(x), atY(y)]);
  const whiskers = (spans ?? []).map(([low, high], i) => {
    const at = `M${coordinate(places[i]![0])} ${coordinate(atY(low))}V${coordinate(atY(high))}`;
    return element('path', { class: `line thin c${colour}`, d: at });
  });
  const marks = dots ? places.map(([cx, cy]) => element('circle', { class: `fill c${colour}`, cx, cy, r: 3 })) : [];
  const parts = [
    element('title', {}, escaped(name)),
    element('path', { class: ['line', width, `c${colour}`].filter(Boolean).join(' '), d: path(places) }),
    ...whiskers,
    ...marks,
  ];
  return element('g', {}, parts.join(''));
}
