import { picture } from './panel.js';
import { linearScale } from './scale.js';
import { coordinate, element, escaped, label } from './svg.js';

/** One bar: its name, its length, and the spread over runs. */
export interface BarRow {
  name: string;
  colour: number;
  value: number;
  low: number;
  high: number;
  /** The value as it is shown. */
  text: string;
}

const ROW = 26;
const HEAD = 34;
const WIDTH = 460;
/** About as wide as a letter is. */
const LETTER = 6.5;

/** Bars below each other with names on the left and values on the right: names may be long, and are read first. */
export function drawBarRows(title: string, rows: readonly BarRow[]): string {
  const names = Math.min(200, Math.max(...rows.map(({ name }) => name.length)) * LETTER);
  const values = Math.max(...rows.map(({ text }) => text.length)) * LETTER + 8;
  const from = 16 + names;
  const span = WIDTH - from - values - 8;
  const scale = linearScale(0, Math.max(...rows.map(({ high }) => high)));
  const bars = rows.map(({ name, colour, value, low, high, text }, i) => {
    const y = HEAD + i * ROW;
    const middle = coordinate(y + 8);
    const whisker = `M${coordinate(from + span * scale.at(low))} ${middle}H${coordinate(from + span * scale.at(high))}`;
    const parts = [
      element('title', {}, escaped(`${name}: ${text}`)),
      label('name end', from - 8, y + 12, name),
      element('rect', {
        class: `fill c${colour}`,
        x: from,
        y,
        width: Math.max(1, span * scale.at(value)),
        height: 16,
        rx: 2,
      }),
      ...(high > low ? [element('path', { class: 'whisker', d: whisker })] : []),
      label('ink end', WIDTH - 8, y + 12, text),
    ];
    return element('g', {}, parts.join(''));
  });
  const height = HEAD + rows.length * ROW + 6;
  return picture(title, { width: WIDTH, height }, [label('ink title', 8, 18, title), ...bars]);
}
