import { axes, type ChartAxis, type Point } from './chart.js';
import { type PanelSize, picture } from './panel.js';
import { coordinate, element, escaped, label, path } from './svg.js';

/** Many points, and at most one line. */
export interface Scatter {
  title: string;
  x: ChartAxis;
  y: ChartAxis;
  /** What a point is. */
  name: string;
  colour: number;
  points: readonly Point[];
  line: { name: string; colour: number; points: readonly Point[] };
}

const SPACE = { left: 52, right: 16, top: 48, bottom: 42 };

/** Points in a separate chart, for a page that defines its classes. */
export function drawScatter(scatter: Scatter, { width, height }: PanelSize): string {
  const plot = {
    x: SPACE.left,
    y: SPACE.top,
    width: width - SPACE.left - SPACE.right,
    height: height - SPACE.top - SPACE.bottom,
  };
  const atX = (value: number) => plot.x + plot.width * scatter.x.scale.at(value);
  const atY = (value: number) => plot.y + plot.height * (1 - scatter.y.scale.at(value));
  // Lines of no length with round ends are dots: one element for all of them.
  const dots = scatter.points.map(([x, y]) => `M${coordinate(atX(x))} ${coordinate(atY(y))}h0`).join('');
  const { line } = scatter;
  return picture(scatter.title, { width, height }, [
    label('ink title', 8, 18, scatter.title),
    ...axes(scatter, plot, atX, atY),
    element(
      'g',
      {},
      element('title', {}, escaped(scatter.name)) + element('path', { class: `line dots c${scatter.colour}`, d: dots }),
    ),
    element(
      'g',
      {},
      element('title', {}, escaped(line.name)) +
        element('path', {
          class: `line c${line.colour}`,
          d: path(line.points.map(([x, y]): Point => [atX(x), atY(y)])),
        }),
    ),
  ]);
}
