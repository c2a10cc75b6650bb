import { type PanelSize, picture } from './panel.js';
import { element, escaped, label } from './svg.js';

/** Values over two settings, a cell for each pair. */
export interface HeatMap {
  title: string;
  x: { title: string; values: readonly string[] };
  y: { title: string; values: readonly string[] };
  /** By row of y, then column of x. */
  cells: readonly (readonly HeatCell[])[];
}

export interface HeatCell {
  /** What the cell shows; empty where there is nothing. */
  text: string;
  /** From 0, the best value of the map, to 1, the worst; null where there is none. */
  shade: number | null;
  /** Crossed out: a constraint does not hold there. */
  isBroken: boolean;
}

const SPACE = { left: 110, right: 16, top: 48, bottom: 48 };
const CELL = { width: 78, height: 30 };
/** Steps of the shade that the style of a page defines. */
export const SHADES = 8;

export function drawHeatMap({ cells, title, x, y }: HeatMap): string {
  const size: PanelSize = {
    width: Math.max(320, SPACE.left + x.values.length * CELL.width + SPACE.right),
    height: SPACE.top + y.values.length * CELL.height + SPACE.bottom,
  };
  const parts = [label('ink title', 8, 18, title), label('axis-title', 8, SPACE.top - 8, y.title)];
  for (const [row, name] of y.values.entries()) {
    const top = SPACE.top + row * CELL.height;
    parts.push(label('tick end', SPACE.left - 8, top + 19, shortened(name)));
    for (const [column, cell] of cells[row]!.entries()) {
      parts.push(
        drawCell(cell, SPACE.left + column * CELL.width, top, `${y.title} ${name}, ${x.title} ${x.values[column]}`),
      );
    }
  }
  const bottom = SPACE.top + y.values.length * CELL.height;
  for (const [column, name] of x.values.entries()) {
    parts.push(label('tick middle', SPACE.left + (column + 0.5) * CELL.width, bottom + 16, shortened(name)));
  }
  parts.push(label('axis-title middle', SPACE.left + (x.values.length * CELL.width) / 2, bottom + 36, x.title));
  return picture(title, size, parts);
}

function drawCell({ isBroken, shade, text }: HeatCell, x: number, y: number, name: string): string {
  if (shade === null) return '';
  const step = Math.min(SHADES - 1, Math.floor(shade * SHADES));
  const box = { x: x + 1, y: y + 1, width: CELL.width - 2, height: CELL.height - 2 };
  return element(
    'g',
    {},
    [
      element('title', {}, escaped(`${name}: ${text}${isBroken ? ', breaks a constraint' : ''}`)),
      element('rect', { class: `heat h${step}`, ...box, rx: 3 }),
      ...(isBroken
        ? [
            element('path', {
              class: 'broken',
              d: `M${x + 5} ${y + CELL.height - 5}l${CELL.width - 10} ${10 - CELL.height}`,
            }),
          ]
        : []),
      label('ink middle', x + CELL.width / 2, y + 19, text),
    ].join(''),
  );
}

function shortened(name: string): string {
  return name.length > 16 ? `${name.slice(0, 15)}…` : name;
}
