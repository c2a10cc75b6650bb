import { textTable } from '../../../report/text/text-table.js';

/** A table that grows: rows that come later keep to the columns of the first. */
export class PrintedTable {
  #widths: readonly number[];
  #isBegun = false;

  /** @param least how wide columns are at least, for what is known to come */
  constructor(
    private readonly titles: readonly string[],
    least: readonly number[] = [],
  ) {
    this.#widths = titles.map((_, i) => least[i] ?? 0);
  }

  /** The lines of some rows; before the first of them, that of the titles. */
  lines(rows: readonly (readonly string[])[]): string[] {
    const shown = this.#isBegun ? rows : [this.titles, ...rows];
    this.#isBegun = true;
    const all = [this.#widths.map((width) => 'x'.repeat(width)), ...shown];
    this.#widths = this.titles.map((_, i) => Math.max(...all.map((row) => [...(row[i] ?? '')].length)));
    return textTable(
      all,
      this.titles.map(() => 'left'),
    ).slice(1);
  }
}
