import { LF } from '../../../kernel/text/ascii.js';
import { blocksUnsized, traceEmpty } from '../../errors.js';
import { PromptBlocks } from '../../prompt-blocks.js';
import { RequestTable } from '../../request-table.js';
import type { Trace } from '../../trace.js';
import { BlockLists } from './block-list.js';
import { CsvColumns } from './csv-columns.js';
import { CsvFile, csvPlace, RowIncomplete } from './csv-file.js';
import { columnOf } from './data-columns.js';
import { Extras } from './extras.js';
import { readLayout, type TraceLayout } from './layout.js';
import { SeenColumns } from './seen-columns.js';
import { checkBlocks, sendTimesFromZero, settleRows } from './settle-rows.js';

/** The shortest row has 26 commas, 17 numbers of one digit, `true` and a line end. Unused memory is never touched. */
const SHORTEST_ROW = 48;

/** A TraceV2's rows, complete and checked. */
export type TraceData = Omit<Trace, 'format' | 'header'>;

/**
 * Reads a whole CSV that is in memory. `relativeDeadlines`: deadlines count from the arrival, as observed traces write them, and
 * times of sending may be dates.
 */
export function readTraceData(
  bytes: Buffer,
  path: string,
  relativeDeadlines: boolean,
  blockTokens?: number,
): TraceData {
  const reader = new TraceDataReader(path, bytes.length, () => bytes, { blockTokens });
  reader.push(bytes, true);
  return reader.finish(relativeDeadlines);
}

/** Options from the header and the caller. */
export interface DataOptions {
  /** Tokens of recorded blocks. */
  blockTokens?: number | undefined;
  /** Read the measurements of responses, too. */
  seen?: boolean;
}

/** Reads a CSV in chunks of any size; holds at most a chunk and a row of it. */
export class TraceDataReader {
  readonly #path: string;
  readonly #wholeFile: () => Buffer;
  readonly #table: RequestTable;
  readonly #blockTokens: number | undefined;
  #blockLists: BlockLists | null = null;
  #extras: Extras;
  #layout: TraceLayout | null = null;
  #columns: CsvColumns | null = null;
  /** Bytes not read yet: the first `#length` of the window; and the number of bytes before it in the file. */
  #window: Buffer = Buffer.alloc(0);
  #length = 0;
  #offset = 0;

  /**
   * @param size of the file if it is known, else 0: how much room to make
   * @param wholeFile reads the file again, to name the place of an error
   */
  constructor(path: string, size: number, wholeFile: () => Buffer, options: DataOptions = {}) {
    this.#path = path;
    this.#wholeFile = wholeFile;
    this.#blockTokens = options.blockTokens;
    this.#table = new RequestTable(Math.ceil(size / SHORTEST_ROW));
    const capacity = this.#table.arrivalUs.length;
    this.#extras = new Extras(capacity, options.seen ? new SeenColumns(capacity) : null);
  }

  push(piece: Buffer, isLast: boolean): void {
    this.#append(piece);
    const window = this.#window.subarray(0, this.#length);
    const end = isLast ? window.length : window.lastIndexOf(LF) + 1;
    if (end === 0 && !isLast) return;
    const place = { offset: this.#offset, isLast, wholeFile: this.#wholeFile };
    const read = this.#readRows(new CsvFile(window.subarray(0, end), this.#path, place));
    this.#window.copyWithin(0, read, this.#length);
    this.#length -= read;
    this.#offset += read;
  }

  #append(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#window.length) {
      const larger = Buffer.allocUnsafeSlow(length * 2);
      this.#window.copy(larger, 0, 0, this.#length);
      this.#window = larger;
    }
    piece.copy(this.#window, this.#length);
    this.#length = length;
  }

  finish(relativeDeadlines: boolean): TraceData {
    const table = this.#table;
    if (table.count === 0) throw traceEmpty(this.#path);
    const { names } = this.#layout!;
    const place = (row: number, column: string) => csvPlace(this.#wholeFile(), this.#path, row, names, column);
    if (!usesKinds(table)) table.kinds = null;
    const originUs = relativeDeadlines ? sendTimesFromZero(table, this.#extras) : 0;
    const unsorted = settleRows(table, this.#extras, relativeDeadlines, place);
    checkBlocks(table, place);
    const { seen, serverTokens, thinkTimeUs, wantedUs } = this.#extras;
    const observed = seen?.observed(table, names, originUs, serverTokens);
    return {
      table,
      wantedUs: isSame(wantedUs, table.arrivalUs, table.count) ? table.arrivalUs : wantedUs,
      thinkTimeUs: names.includes('think_time_us') ? thinkTimeUs : null,
      unsorted,
      ...(observed === undefined ? {} : { observed }),
      place,
    };
  }

  /** Reads the rows of a window that are complete; how many bytes they take. */
  #readRows(file: CsvFile): number {
    let begin = file.start;
    try {
      if (this.#layout === null) {
        this.#layout = readLayout(file, this.#path);
        begin = this.#layout.end;
        if (this.#layout.names.includes('block_hashes')) this.#expectBlocks();
      }
      this.#prepare(file);
      const table = this.#table;
      const columns = this.#columns!;
      for (begin = file.nextRow(begin); begin < file.bytes.length; begin = file.nextRow(begin)) {
        begin = columns.read(begin, table.count);
        table.append();
      }
    } catch (error) {
      if (!(error instanceof RowIncomplete)) throw error;
    }
    return Math.min(begin, this.#length);
  }

  #expectBlocks(): void {
    if (this.#blockTokens === undefined) throw blocksUnsized(this.#path);
    this.#table.blocks = new PromptBlocks(this.#blockTokens);
    this.#blockLists = new BlockLists(this.#table.blocks);
  }

  /** Columns hold the arrays they fill: they are created again when the table has grown. */
  #prepare(file: CsvFile): void {
    const grown = this.#table.reserve(this.#table.count + Math.ceil(file.bytes.length / SHORTEST_ROW));
    if (grown) this.#extras = this.#extras.grown(this.#table.arrivalUs.length);
    if (this.#columns === null || grown) {
      const { names, required } = this.#layout!;
      this.#columns = new CsvColumns(file, names.map(columnOf(this.#table, this.#extras, this.#blockLists)), required);
    }
    this.#columns.moveTo(file);
  }
}

function usesKinds({ count, kinds }: RequestTable): boolean {
  const { audio, image, reasonRatio, text, video } = kinds!;
  for (let row = 0; row < count; row++) {
    if ((text[row]! | image[row]! | audio[row]! | video[row]!) !== 0 || reasonRatio[row] !== 0) return true;
  }
  return false;
}

function isSame(a: Float64Array, b: Float64Array, count: number): boolean {
  for (let row = 0; row < count; row++) if (a[row] !== b[row]) return false;
  return true;
}
