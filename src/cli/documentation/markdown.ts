/** A Markdown table; the first row holds the column names. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [names, ...body] = rows;
  return [names!, names!.map(() => '---'), ...body].map((row) => `| ${row.map(cell).join(' | ')} |\n`).join('');
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

/** Stands at the top of every page that is made by a program. */
export function madeFrom(source: string): string {
  return `<!-- Made by scripts/generate-docs.mjs from ${source}: change that, and run the script again. -->\n`;
}
