/** No block before this one. */
const ROOT = -1;
/** Ids below this are in an array, larger ones in a map. */
const SMALL_ID = 1 << 22;

/**
 * The blocks of recorded prompts, first to last, as chained numbers: two prompts are equal up to and including a block
 * exactly when that block has the same number in both. Recorders number blocks in their own way; the same id after
 * different blocks becomes two numbers here.
 */
export class PromptBlocks {
  /** Tokens of a block; a prompt's last block may hold fewer. */
  readonly blockTokens: number;
  /** By number: how many prompts have the block. */
  uses = new Int32Array(1024);
  /** How many different blocks there are. */
  count = 0;
  /** By number: the one before it in every prompt that has it. */
  #before = new Int32Array(1024);
  /** By recorded id: one more than the number it got first. */
  #firstNumber = new Int32Array(1024);
  readonly #largeIds = new Map<number, number>();
  /** Ids that occur again after another block: by the block before them, then by id. */
  readonly #others = new Map<number, Map<number, number>>();
  /** The blocks of all rows, one row after the other. */
  #blocks = new Int32Array(1024);
  /** Where the rows before this one end, so where it begins. */
  #ends = new Float64Array(1024);
  #rows = 0;
  #length = 0;
  #last = ROOT;
  /** The table's own blocks, or those that it was created from (see `withoutRows`): `#continuedBy` has rows of these. */
  #origin: PromptBlocks = this;
  /** By row: the row whose prompt repeats this one's and its response, -1 for none; null when there is no such row. */
  #continuedBy: Int32Array | null = null;
  /** By number: 1 for a block that a response fills. */
  #answered: Uint8Array | null = null;

  constructor(blockTokens: number) {
    this.blockTokens = blockTokens;
  }

  /** Adds the next block of the row being written, by the recorder's id: a whole number from 0. */
  add(id: number): void {
    const block = this.#number(id, this.#last);
    this.#append(block);
    this.uses[block]!++;
    this.#last = block;
  }

  /** The blocks added since the last call are those of this row. Rows come in order; rows left out have none. */
  endRow(row: number): void {
    while (row + 1 >= this.#ends.length) this.#ends = doubledFloats(this.#ends);
    this.#ends.fill(this.#ends[this.#rows]!, this.#rows + 1, row + 1);
    this.#ends[row + 1] = this.#length;
    this.#rows = row + 1;
    this.#last = ROOT;
  }

  /** The same blocks without rows: for a table whose rows come from this one's table, one after the other. */
  withoutRows(): PromptBlocks {
    const copy = new PromptBlocks(this.blockTokens);
    copy.uses = this.uses;
    copy.count = this.count;
    copy.#origin = this.#origin;
    copy.#answered = this.#answered;
    return copy;
  }

  /**
   * Gives a row the blocks of a row in the table this one was created from. Uses do not change: it is the same prompt.
   */
  copyRow(from: PromptBlocks, fromRow: number, row: number): void {
    const blocks = from.blocksOf(fromRow);
    for (let i = 0; i < blocks; i++) this.#append(from.block(fromRow, i));
    this.endRow(row);
    if (from.#continuedBy !== null) this.#continue(row, from.continuation(fromRow));
  }

  /**
   * The prompt of row `by` begins with the prompt of this row and its response: `tokens` in total. So the response fills
   * the blocks of that prompt.
   */
  continueWith(row: number, by: number, tokens: number): void {
    this.#continue(row, by);
    this.#answered ??= new Uint8Array(this.count);
    const end = Math.min(this.blocksOf(by), Math.ceil(tokens / this.blockTokens));
    for (let i = 0; i < end; i++) this.#answered[this.block(by, i)] = 1;
  }

  /** The row, of `origin`, whose prompt repeats this one's and its response; -1 for none. */
  continuation(row: number): number {
    const rows = this.#continuedBy;
    return rows !== null && row < rows.length ? rows[row]! : -1;
  }

  /** Where the rows of `continuation` are. */
  get origin(): PromptBlocks {
    return this.#origin;
  }

  blocksOf(row: number): number {
    return row < this.#rows ? this.#ends[row + 1]! - this.#ends[row]! : 0;
  }

  /** The number of the i-th block of a row. */
  block(row: number, i: number): number {
    return this.#blocks[this.#ends[row]! + i]!;
  }

  /** How many of the row's first blocks another prompt has as well, or another request's response fills. */
  sharedBlocks(row: number): number {
    if (row >= this.#rows) return 0;
    const begin = this.#ends[row]!;
    let end = this.#ends[row + 1]!;
    // Chained: when a block is shared, so are all before it.
    while (end > begin && !this.#isShared(this.#blocks[end - 1]!)) end--;
    return end - begin;
  }

  #isShared(block: number): boolean {
    return this.uses[block]! > 1 || (this.#answered !== null && this.#answered[block] === 1);
  }

  #continue(row: number, by: number): void {
    let rows = this.#continuedBy ?? new Int32Array(Math.max(64, this.#rows)).fill(-1);
    if (row >= rows.length) {
      const longer = new Int32Array(Math.max(row + 1, rows.length * 2)).fill(-1);
      longer.set(rows);
      rows = longer;
    }
    rows[row] = by;
    this.#continuedBy = rows;
  }

  #append(block: number): void {
    if (this.#length === this.#blocks.length) this.#blocks = doubled(this.#blocks);
    this.#blocks[this.#length++] = block;
  }

  #number(id: number, before: number): number {
    let first: number;
    if (id < SMALL_ID) {
      while (id >= this.#firstNumber.length) this.#firstNumber = doubled(this.#firstNumber);
      first = this.#firstNumber[id]! - 1;
    } else {
      first = this.#largeIds.get(id) ?? -1;
    }
    if (first >= 0 && this.#before[first] === before) return first;
    if (first < 0) {
      first = this.#newBlock(before);
      if (id < SMALL_ID) this.#firstNumber[id] = first + 1;
      else this.#largeIds.set(id, first);
      return first;
    }
    let siblings = this.#others.get(before);
    if (siblings === undefined) {
      siblings = new Map();
      this.#others.set(before, siblings);
    }
    const known = siblings.get(id) ?? this.#newBlock(before);
    siblings.set(id, known);
    return known;
  }

  #newBlock(before: number): number {
    if (this.count === this.#before.length) {
      this.#before = doubled(this.#before);
      this.uses = doubled(this.uses);
    }
    this.#before[this.count] = before;
    return this.count++;
  }
}

function doubled(array: Int32Array): Int32Array<ArrayBuffer> {
  const next = new Int32Array(array.length * 2);
  next.set(array);
  return next;
}

function doubledFloats(array: Float64Array): Float64Array<ArrayBuffer> {
  const next = new Float64Array(array.length * 2);
  next.set(array);
  return next;
}
