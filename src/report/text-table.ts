/** Text starts its column on the left, numbers end it on the right. */
export type Alignment = 'left' | 'right';

/** Rows of cells as lines with aligned columns, two spaces apart; the first row holds the column names. */
export function textTable(rows: readonly (readonly string[])[], alignments: readonly Alignment[]): string[] {
  const widths = alignments.map((_, column) => Math.max(0, ...rows.map((row) => [...(row[column] ?? '')].length)));
  return rows.map((row) =>
    alignments
      .map((alignment, column) => {
        const cell = row[column] ?? '';
        const space = ' '.repeat(widths[column]! - [...cell].length);
        return alignment === 'left' ? cell + space : space + cell;
      })
      .join('  ')
      .trimEnd(),
  );
}
