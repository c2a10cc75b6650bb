import { type Alignment, type Cell, stackedTables } from './text-table.js';
import { wrapText } from './wrap-text.js';

/** Properties of the output that shows the text. */
export interface TextOptions {
  readonly colour: boolean;
  /** The maximum length of lines; unlimited without it. */
  readonly width?: number;
}

/** How a report is laid out and marked. */
export interface Style {
  heading(text: string): string;
  faint(text: string): string;
  bar(text: string): string;
  better(text: string): string;
  worse(text: string): string;
  /**
   * Lines of a table whose first row holds the column names; one that is too wide continues below.
   * @param labels how many columns name a row: the first unless given
   */
  table(rows: readonly (readonly Cell[])[], alignments: readonly Alignment[], labels?: number): string[];
  /** Lines of a text; those after the first are indented by this many spaces. */
  prose(text: string, indent?: number): string[];
  readonly width: number;
}

const asIs = (text: string) => text;
const code = (start: number, end: number) => (text: string) => `\x1b[${start}m${text}\x1b[${end}m`;

export function createStyle({ colour, width = Number.POSITIVE_INFINITY }: TextOptions): Style {
  const mark = (start: number, end: number) => (colour ? code(start, end) : asIs);
  const heading = mark(1, 22);
  return {
    heading,
    faint: mark(2, 22),
    bar: mark(36, 39),
    better: mark(32, 39),
    worse: mark(31, 39),
    width,
    table(rows, alignments, labels) {
      const tables = stackedTables(rows, alignments, width, labels);
      return tables.flatMap(([names, ...lines], i) => [...(i === 0 ? [] : ['']), heading(names!), ...lines]);
    },
    prose(text, indent = 0) {
      return wrapText(text, width, width - indent).map((line, i) => (i === 0 ? line : ' '.repeat(indent) + line));
    },
  };
}

const LABEL_WIDTH = 12;

/** Lines of a text after a label. */
export function labelledText({ heading, prose }: Style, label: string, text: string): string[] {
  const [first, ...rest] = prose(label.padEnd(LABEL_WIDTH) + text, LABEL_WIDTH);
  return [heading(first!.slice(0, LABEL_WIDTH)) + first!.slice(LABEL_WIDTH), ...rest];
}
