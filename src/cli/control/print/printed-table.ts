import { printable } from '../../../report/text/text-table.js';
import { wrapText } from '../../../report/text/wrap-text.js';

const GAP = '  ';
/** Where less room is left for the last column, it starts on its own line. */
const LEAST_TEXT = 30;
/** Of the lines of a row after the first. */
const INDENT = 4;

/**
 * A table of rows that arrive one by one: later rows use the column widths of the rows before them. Columns that do not fit the
 * width continue on further, indented lines of the row, and the text of the last column is wrapped.
 */
export class PrintedTable {
  #widths: readonly number[];
  #isBegun = false;

  /** @param least minimum widths of columns, for rows that are expected to come */
  constructor(
    private readonly titles: readonly string[],
    private readonly width: number,
    least: readonly number[] = [],
  ) {
    this.#widths = titles.map((title, i) => Math.max(lengthOf(title), least[i] ?? 0));
  }

  /** The lines of some rows; before the first of them, the titles. */
  lines(rows: readonly (readonly string[])[]): string[] {
    const shown = rows.map((row) => this.titles.map((_, i) => printable(row[i] ?? '')));
    this.#widths = this.#widths.map((width, i) => Math.max(width, ...shown.map((row) => lengthOf(row[i]!))));
    const groups = this.#lineGroups();
    const lines = (this.#isBegun ? shown : [this.titles, ...shown]).flatMap((row) => this.#rowLines(row, groups));
    this.#isBegun = true;
    return lines;
  }

  /** Which columns share a line. */
  #lineGroups(): number[][] {
    const groups: number[][] = [[]];
    let room = this.width;
    for (const [column, width] of this.#widths.entries()) {
      const isLast = column === this.#widths.length - 1;
      if ((isLast ? Math.min(width, LEAST_TEXT) : width) > room && groups.at(-1)!.length > 0) {
        groups.push([]);
        room = this.width - INDENT;
      }
      groups.at(-1)!.push(column);
      room -= width + GAP.length;
    }
    return groups;
  }

  #rowLines(row: readonly string[], groups: readonly number[][]): string[] {
    return groups
      .flatMap((columns, i) => {
        const padded = columns
          .slice(0, -1)
          .map((column) => row[column]! + ' '.repeat(this.#spaceIn(row, column)) + GAP);
        const before = ' '.repeat(i === 0 ? 0 : INDENT) + padded.join('');
        const text = row[columns.at(-1)!]!;
        const wrapped = i === groups.length - 1 ? wrapText(text, this.width - before.length) : [text];
        return wrapped.map((line, n) => (n === 0 ? before : ' '.repeat(before.length)) + line);
      })
      .map((line) => line.trimEnd())
      .filter((line, i) => i === 0 || line !== '');
  }

  #spaceIn(row: readonly string[], column: number): number {
    return this.#widths[column]! - lengthOf(row[column]!);
  }
}

const lengthOf = (text: string) => [...text].length;
