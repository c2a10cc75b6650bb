/** Text starts its column on the left, numbers end it on the right. */
export type Alignment = 'left' | 'right';

/** Names come from traces: none of them may steer the terminal. */
function printable(cell: string): string {
  return cell.replace(/\p{Cc}/gu, '?');
}

/** Rows of cells as lines with aligned columns, two spaces apart; the first row holds the column names. */
export function textTable(rows: readonly (readonly string[])[], alignments: readonly Alignment[]): string[] {
  const cells = rows.map((row) => alignments.map((_, column) => printable(row[column] ?? '')));
  const widths = alignments.map((_, column) =>
    cells.reduce((most, row) => Math.max(most, [...row[column]!].length), 0),
  );
  return cells.map((row) =>
    alignments
      .map((alignment, column) => {
        const cell = row[column]!;
        const space = ' '.repeat(widths[column]! - [...cell].length);
        return alignment === 'left' ? cell + space : space + cell;
      })
      .join('  ')
      .trimEnd(),
  );
}
