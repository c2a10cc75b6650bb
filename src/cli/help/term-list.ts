import { wrapText } from '../../report/text/wrap-text.js';

/** Longer terms get their own line. */
const MOST_TERM = 30;

/** Where less room is left beside the terms, texts are below them. */
const LEAST_TEXT = 30;

/** The width that a list needs for its terms; adjacent lists share the widest. */
export function termWidth(terms: readonly string[]): number {
  return Math.max(0, ...terms.map(({ length }) => length).filter((length) => length <= MOST_TERM));
}

/** Terms on the left, indented by two, and what they mean beside them, wrapped to `width`. */
export function termList(rows: readonly (readonly [string, string])[], width: number, column: number): string {
  const isNarrow = width - column - 4 < LEAST_TEXT;
  const indent = ' '.repeat(isNarrow ? 6 : column + 4);
  return rows
    .map(([term, text]) => {
      const lines = wrapText(text, width - indent.length);
      const beside = !isNarrow && term.length <= column;
      const first = beside ? `  ${term.padEnd(column)}  ${lines.shift()}` : `  ${term}`;
      return [first, ...lines.map((line) => indent + line)].map((line) => `${line.trimEnd()}\n`).join('');
    })
    .join('');
}
