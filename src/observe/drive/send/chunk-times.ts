/** When each chunk of each response arrived: microseconds from the beginning of the run, in order of arrival. */
export class ChunkTimes {
  count = 0;
  #rows = new Int32Array(1024);
  #us = new Float64Array(1024);

  add(row: number, us: number): void {
    if (this.count === this.#rows.length) this.#grow();
    this.#rows[this.count] = row;
    this.#us[this.count++] = us;
  }

  /** The times of every row below `rows` that has any, row by row. */
  *byRow(rows: number): Generator<{ row: number; us: Float64Array }, void, undefined> {
    const begin = new Float64Array(rows + 1);
    for (let i = 0; i < this.count; i++) begin[this.#rows[i]! + 1]!++;
    for (let row = 0; row < rows; row++) begin[row + 1]! += begin[row]!;
    const next = begin.slice();
    const sorted = new Float64Array(this.count);
    for (let i = 0; i < this.count; i++) sorted[next[this.#rows[i]!]!++] = this.#us[i]!;
    for (let row = 0; row < rows; row++) {
      if (begin[row + 1]! > begin[row]!) yield { row, us: sorted.subarray(begin[row], begin[row + 1]) };
    }
  }

  #grow(): void {
    const rows = new Int32Array(this.#rows.length * 2);
    rows.set(this.#rows);
    this.#rows = rows;
    const us = new Float64Array(rows.length);
    us.set(this.#us);
    this.#us = us;
  }
}
