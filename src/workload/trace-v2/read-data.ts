import {
  blocksUnsized,
  deadlineTooEarly,
  duplicateId,
  promptTooLong,
  requestEmpty,
  tooManyBlocks,
  traceEmpty,
} from '../errors.js';
import { PromptBlocks } from '../prompt-blocks.js';
import { RequestTable, ROW_STREAMING, setSourceId } from '../request-table.js';
import type { Trace } from '../trace.js';
import { BlockLists } from './block-list.js';
import { type CsvColumn, CsvColumns } from './csv-columns.js';
import { CsvFile, NEWLINE, RowIncomplete } from './csv-file.js';
import { csvPlace } from './csv-place.js';
import { Extras } from './extras.js';
import { readLayout, type TraceLayout } from './layout.js';
import { SeenColumns } from './seen-columns.js';

const MAX_COUNT = 2 ** 31 - 1;
const MAX_TIME = Number.MAX_SAFE_INTEGER;
const MAX_SHORT_INDEX = 2 ** 16 - 1;
/** No row is shorter: 26 commas, 17 numbers of a digit, `true` and a line end. Memory that is not used is never touched. */
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

/** What the header, or whoever reads, says about the rows. */
export interface DataOptions {
  /** Tokens of recorded blocks. */
  blockTokens?: number | undefined;
  /** What was seen of the answers is wanted, too. */
  seen?: boolean;
}

/** Send times from here on are dates: no trace lasts that long. */
const DATES_US = 1e14;

/** Reads a CSV that comes in pieces of any size; holds no more of it than a piece and a row. */
export class TraceDataReader {
  readonly #path: string;
  readonly #wholeFile: () => Buffer;
  readonly #table: RequestTable;
  readonly #blockTokens: number | undefined;
  #blockLists: BlockLists | null = null;
  #extras: Extras;
  #layout: TraceLayout | null = null;
  #columns: CsvColumns | null = null;
  /** What came in and is not read yet: the first `#length` bytes; and how many bytes of the file came before it. */
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
    const end = isLast ? window.length : window.lastIndexOf(NEWLINE) + 1;
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
    const originUs = relativeDeadlines ? startAtZero(table, this.#extras) : 0;
    const unsorted = settle(table, this.#extras, relativeDeadlines, place);
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

  /** Columns know the arrays they fill: they are made anew when the table has outgrown those. */
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

/** Where each column goes. Times are stored as they stand in the file and put right afterwards. */
function columnOf(table: RequestTable, extras: Extras, lists: BlockLists | null): (name: string) => CsvColumn {
  const kinds = table.ensureKinds();
  const count = { holds: 'whole', min: 0, max: MAX_COUNT } as const;
  const time = { holds: 'whole', min: 0, max: MAX_TIME } as const;
  const anyTime = { holds: 'whole', min: -MAX_TIME, max: MAX_TIME } as const;
  const columns: CsvColumn[] = [
    ...(extras.seen?.columns() ?? []),
    { name: 'request_id', ...time, into: extras.sourceId },
    { name: 'client_id', holds: 'name', names: table.clients, max: MAX_COUNT, into: table.client },
    { name: 'tenant_id', holds: 'name', names: table.tenants, max: MAX_COUNT, into: table.tenant },
    { name: 'slo_class', holds: 'name', names: table.sloClasses, max: MAX_SHORT_INDEX, into: table.sloClass },
    { name: 'vllm_priority', ...count },
    { name: 'session_id', holds: 'name', names: table.sessions, max: MAX_COUNT, into: table.session },
    { name: 'round_index', ...count, into: table.round },
    { name: 'prefix_group', holds: 'name', names: table.prefixGroups, max: MAX_COUNT, into: table.prefixGroup },
    { name: 'prefix_length', ...count, into: extras.prefixLength },
    { name: 'streaming', holds: 'boolean', into: table.flags },
    { name: 'input_tokens', ...count, into: table.inputTokens },
    { name: 'output_tokens', ...count, into: table.outputTokens },
    { name: 'text_tokens', ...count, into: kinds.text },
    { name: 'image_tokens', ...count, into: kinds.image },
    { name: 'audio_tokens', ...count, into: kinds.audio },
    { name: 'video_tokens', ...count, into: kinds.video },
    { name: 'reason_ratio', holds: 'ratio', into: kinds.reasonRatio },
    { name: 'model', holds: 'name', names: table.models, max: MAX_SHORT_INDEX, into: table.model },
    { name: 'deadline_us', ...time, into: table.deadlineUs },
    { name: 'slo_target_us', ...time, into: table.sloTargetUs },
    { name: 'server_input_tokens', ...count, into: extras.serverTokens },
    { name: 'arrival_time_us', ...time, into: extras.wantedUs },
    { name: 'send_time_us', ...anyTime, into: table.arrivalUs },
    { name: 'first_chunk_time_us', ...anyTime },
    { name: 'last_chunk_time_us', ...anyTime },
    { name: 'num_chunks', ...count },
    { name: 'think_time_us', ...time, into: extras.thinkTimeUs, emptyIsZero: true },
    { name: 'block_hashes', holds: 'list', accepted: BlockLists.accepted, read: (row, text) => lists?.read(row, text) },
  ];
  return (name) => columns.find((column) => column.name === name) ?? { name, holds: 'anything' };
}

/**
 * Times of sending that are dates are moved to the axis of the arrivals that were wanted, so that nobody was early and somebody
 * was on time; gives how far they moved.
 */
function startAtZero({ arrivalUs, count }: RequestTable, { wantedUs }: Extras): number {
  let originUs = Number.POSITIVE_INFINITY;
  for (let row = 0; row < count; row++) {
    if (arrivalUs[row]! > 0) originUs = Math.min(originUs, arrivalUs[row]! - wantedUs[row]!);
  }
  if (!(originUs >= DATES_US && originUs < Number.POSITIVE_INFINITY)) return 0;
  for (let row = 0; row < count; row++) if (arrivalUs[row]! > 0) arrivalUs[row]! -= originUs;
  return originUs;
}

/** Turns what the file says into requests, in place; says whether they are out of order. */
function settle(table: RequestTable, extras: Extras, relativeDeadlines: boolean, place: Trace['place']): boolean {
  const { arrivalUs, count, deadlineUs, flags, inputTokens, outputTokens, prefixGroup } = table;
  const { serverTokens, sourceId, wantedUs } = extras;
  const prefixTokens = prefixLengths(table, extras);
  let unsorted = false;
  let idsAscend = true;
  let lastId = -1;
  let lastArrival = 0;
  for (let row = 0; row < count; row++) {
    const id = sourceId[row]!;
    setSourceId(table, row, id);
    if (id <= lastId) idsAscend = false;
    lastId = id;

    // Sent at, as read; a record arrives when it was wanted if nobody noted the sending.
    const wanted = wantedUs[row]!;
    const arrival = arrivalUs[row]! > 0 ? arrivalUs[row]! : wanted;
    arrivalUs[row] = arrival;
    if (arrival < lastArrival) unsorted = true;
    lastArrival = arrival;
    const deadline = deadlineUs[row]!;
    if (deadline > 0) {
      if (relativeDeadlines) deadlineUs[row] = arrival + deadline;
      else if (deadline < wanted) throw deadlineTooEarly(place(row, 'deadline_us'), deadline, wanted);
    }

    const group = prefixGroup[row]!;
    // The server's count includes the prefix, so it cannot be used where one is added.
    const fresh = group === 0 && serverTokens[row]! > 0 ? serverTokens[row]! : inputTokens[row]!;
    const tokens = fresh + prefixTokens[group]!;
    if (tokens > MAX_COUNT) throw promptTooLong(place(row, 'input_tokens'), tokens);
    if (tokens === 0 && outputTokens[row] === 0) throw requestEmpty(place(row, 'input_tokens'));
    inputTokens[row] = tokens;
    flags[row] = flags[row] === 1 ? ROW_STREAMING : 0;
  }
  if (!idsAscend) checkIds(table, extras, place);
  return unsorted;
}

/** A group's prefix is as long as its first record with a length says, and stands before every prompt of the group. */
function prefixLengths({ count, prefixGroup, prefixGroups, prefixTokens }: RequestTable, extras: Extras): number[] {
  while (prefixTokens.length < prefixGroups.size) prefixTokens.push(0);
  for (let row = 0; row < count; row++) {
    const group = prefixGroup[row]!;
    if (group > 0 && prefixTokens[group] === 0) prefixTokens[group] = extras.prefixLength[row]!;
  }
  return prefixTokens;
}

function checkBlocks({ blocks, count, inputTokens }: RequestTable, place: Trace['place']): void {
  if (blocks === null) return;
  for (let row = 0; row < count; row++) {
    const most = Math.ceil(inputTokens[row]! / blocks.blockTokens);
    if (blocks.blocksOf(row) > most) {
      throw tooManyBlocks(place(row, 'block_hashes'), blocks.blocksOf(row), most, blocks.blockTokens);
    }
  }
}

function checkIds({ count }: RequestTable, { sourceId }: Extras, place: Trace['place']): void {
  const seen = new Map<number, number>();
  for (let row = 0; row < count; row++) {
    const id = sourceId[row]!;
    const first = seen.get(id);
    if (first !== undefined) throw duplicateId(place(row, 'request_id'), id, place(first, 'request_id'));
    seen.set(id, row);
  }
}
