import { wrapText } from './wrap-text.js';

/** Text starts its column on the left, numbers end it on the right. */
export type Alignment = 'left' | 'right';

/** A text, and how it is coloured once the columns are laid out. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

const COLUMN_GAP = 2;
/** Long text is wrapped beside the other columns where this much room is left, else in a table below. */
const LEAST_TEXT = 30;
/** Narrower than this a wrapped text is harder to read than a line that is too long. */
const LEAST_WRAPPED = 16;

/** Names come from traces: control characters in them must not reach the terminal. */
export function printable(cell: Cell): string {
  return (typeof cell === 'string' ? cell : cell.text).replace(/\p{Cc}/gu, '?');
}

const lengthOf = (text: string) => [...text].length;

function columnWidths(rows: readonly (readonly Cell[])[], count: number): number[] {
  return Array.from({ length: count }, (_, column) =>
    rows.reduce((most, row) => Math.max(most, lengthOf(printable(row[column] ?? ''))), 0),
  );
}

/** Rows of cells as lines with aligned columns, two spaces apart; the first row holds the column names. */
export function textTable(rows: readonly (readonly Cell[])[], alignments: readonly Alignment[]): string[] {
  const widths = columnWidths(rows, alignments.length);
  return rows.map((row) =>
    alignments
      .map((alignment, column) => {
        const cell = row[column] ?? '';
        const text = printable(cell);
        const space = ' '.repeat(widths[column]! - lengthOf(text));
        const shown = typeof cell === 'string' ? text : cell.paint(text);
        return alignment === 'left' ? shown + space : space + shown;
      })
      .join(' '.repeat(COLUMN_GAP))
      .trimEnd(),
  );
}

/**
 * The same in lines of at most `width` characters: columns that do not fit follow in further tables, each with the first
 * `labels` columns again as long as they leave half of the width. A column without a name stays with the one before it. Text in
 * the last column of a table is wrapped; a word that is too long stays whole.
 */
export function stackedTables(
  rows: readonly (readonly Cell[])[],
  alignments: readonly Alignment[],
  width: number,
  labels = 1,
): string[][] {
  const widths = columnWidths(rows, alignments.length);
  const widthOf = (columns: readonly number[]) =>
    columns.reduce((sum, column) => sum + widths[column]! + COLUMN_GAP, 0);
  const groups = columnGroups(rows[0]!);
  let label = groups.shift()!;
  for (let i = 1; i < labels && groups.length > 1 && widthOf([...label, ...groups[0]!]) <= width / 2; i++) {
    label = [...label, ...groups.shift()!];
  }
  const tables: number[][] = [[...label]];
  for (const [i, group] of groups.entries()) {
    const last = tables.at(-1)!;
    const room = width - widthOf(last);
    const isText = i === groups.length - 1 && group.length === 1 && alignments[group[0]!] === 'left';
    const needed = widthOf(group) - COLUMN_GAP;
    const fits = (isText ? Math.min(needed, LEAST_TEXT) : needed) <= room;
    if (!fits && last.length > label.length) tables.push([...label, ...group]);
    else last.push(...group);
  }
  return tables.map((columns) => {
    const room = width - widthOf(columns.slice(0, -1));
    const shown = rows.map((row) => columns.map((column) => row[column] ?? ''));
    const isWrapped = alignments[columns.at(-1)!] === 'left' && widths[columns.at(-1)!]! > room;
    return textTable(
      isWrapped ? shown.flatMap((row) => wrappedRow(row, Math.max(room, LEAST_WRAPPED))) : shown,
      columns.map((column) => alignments[column]!),
    );
  });
}

/** The row with its last cell over several lines. */
function wrappedRow(row: readonly Cell[], room: number): Cell[][] {
  const cell = row.at(-1)!;
  return wrapText(printable(cell), room).map((text, i) => [
    ...row.slice(0, -1).map((one) => (i === 0 ? one : '')),
    typeof cell === 'string' ? text : { text, paint: cell.paint },
  ]);
}

function columnGroups(names: readonly Cell[]): number[][] {
  const groups: number[][] = [];
  for (const [column, name] of names.entries()) {
    if (column === 0 || printable(name) !== '') groups.push([column]);
    else groups.at(-1)!.push(column);
  }
  return groups;
}
