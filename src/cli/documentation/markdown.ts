/** A Markdown table with its columns aligned, as the formatter wants it; the first row holds the column names. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(cell));
  const widths = cells[0]!.map((_, column) => Math.max(3, ...cells.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) => `| ${row.map((text, i) => text.padEnd(widths[i]!)).join(' | ')} |\n`;
  const [names, ...body] = cells.map(line);
  return [names, line(widths.map((width) => '-'.repeat(width))), ...body].join('');
}

/** A bar would end the cell, even inside code. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** Text that must not be read as Markdown: placeholders in angle brackets, stars in formulas. */
export function plain(text: string): string {
  return text.replace(/[\\*_<>[\]]/g, '\\$&');
}

/** The first line of every generated page. */
export function madeFrom(source: string): string {
  return `<!-- Made by scripts/generate-docs.mjs from ${source}: change that, and run the script again. -->\n`;
}
