/** Text starts its column on the left, numbers end it on the right. */
export type Alignment = 'left' | 'right';

/** A text, and how it is coloured once the columns are laid out. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

const COLUMN_GAP = 2;

/** Names come from traces: control characters in them must not reach the terminal. */
function printable(cell: Cell): string {
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
 * The same in lines of at most `width` characters: columns that do not fit follow in further tables, each with the first column
 * again. A column without a name stays with the one before it.
 */
export function stackedTables(
  rows: readonly (readonly Cell[])[],
  alignments: readonly Alignment[],
  width: number,
): string[][] {
  const widths = columnWidths(rows, alignments.length);
  const [label, ...groups] = columnGroups(rows[0]!);
  const widthOf = (columns: readonly number[]) =>
    columns.reduce((sum, column) => sum + widths[column]! + COLUMN_GAP, 0);
  const tables: number[][] = [[...label!]];
  for (const group of groups) {
    const last = tables.at(-1)!;
    const isFull = widthOf([...last, ...group]) - COLUMN_GAP > width;
    if (isFull && last.length > label!.length) tables.push([...label!, ...group]);
    else last.push(...group);
  }
  return tables.map((columns) =>
    textTable(
      rows.map((row) => columns.map((column) => row[column] ?? '')),
      columns.map((column) => alignments[column]!),
    ),
  );
}

function columnGroups(names: readonly Cell[]): number[][] {
  const groups: number[][] = [];
  for (const [column, name] of names.entries()) {
    if (column === 0 || printable(name) !== '') groups.push([column]);
    else groups.at(-1)!.push(column);
  }
  return groups;
}
