import { deadlineTooEarly, duplicateId, promptTooLong, requestEmpty, traceEmpty } from '../errors.js';
import { RequestTable, ROW_STREAMING } from '../request-table.js';
import type { Trace } from '../trace.js';
import { type CsvColumn, CsvColumns } from './csv-columns.js';
import { CsvFile } from './csv-file.js';
import { readLayout } from './layout.js';

const MAX_COUNT = 2 ** 31 - 1;
const MAX_TIME = Number.MAX_SAFE_INTEGER;
const MAX_SHORT_INDEX = 2 ** 16 - 1;
/** No row is shorter: 26 commas, 17 numbers of a digit, `true` and a line end. Memory that is not used is never touched. */
const SHORTEST_ROW = 48;

/** Columns of a trace that are not part of a request as the simulator sees it. */
class Extras {
  readonly rowBegin: Float64Array;
  readonly wantedUs: Float64Array;
  readonly thinkTimeUs: Float64Array;
  readonly prefixLength: Int32Array;
  readonly serverTokens: Int32Array;

  constructor(capacity: number) {
    this.rowBegin = new Float64Array(capacity);
    this.wantedUs = new Float64Array(capacity);
    this.thinkTimeUs = new Float64Array(capacity);
    this.prefixLength = new Int32Array(capacity);
    this.serverTokens = new Int32Array(capacity);
  }
}

/** The records of a trace as requests. `relativeDeadlines`: deadlines count from the arrival, as observed traces write them. */
export function readTraceData(
  bytes: Buffer,
  path: string,
  relativeDeadlines: boolean,
): Omit<Trace, 'format' | 'header'> {
  const file = new CsvFile(bytes, path);
  const layout = readLayout(file, path);
  const capacity = Math.ceil(bytes.length / SHORTEST_ROW);
  const table = new RequestTable(capacity);
  const extras = new Extras(capacity);
  const columns = new CsvColumns(file, layout.names.map(columnOf(table, extras)), layout.required);
  let begin = file.nextRow(layout.end);
  for (; begin < file.bytes.length; begin = file.nextRow(begin)) {
    const row = table.append();
    extras.rowBegin[row] = begin;
    begin = columns.read(begin, row);
  }
  if (table.count === 0) throw traceEmpty(path);

  const place = (row: number, column: string) =>
    file.place(file.fieldBegin(extras.rowBegin[row]!, layout.names.indexOf(column)), column);
  const unsorted = settle(table, extras, relativeDeadlines, place);
  return {
    table,
    wantedUs: extras.wantedUs,
    thinkTimeUs: layout.names.includes('think_time_us') ? extras.thinkTimeUs : null,
    unsorted,
    place,
  };
}

/** Where each column goes. Times are stored as they stand in the file and put right afterwards. */
function columnOf(table: RequestTable, extras: Extras): (name: string) => CsvColumn {
  const count = { holds: 'whole', min: 0, max: MAX_COUNT } as const;
  const time = { holds: 'whole', min: 0, max: MAX_TIME } as const;
  const anyTime = { holds: 'whole', min: -MAX_TIME, max: MAX_TIME } as const;
  const columns: CsvColumn[] = [
    { name: 'request_id', ...time, into: table.sourceId },
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
    { name: 'text_tokens', ...count },
    { name: 'image_tokens', ...count },
    { name: 'audio_tokens', ...count },
    { name: 'video_tokens', ...count },
    { name: 'reason_ratio', holds: 'ratio' },
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
  ];
  return (name) => columns.find((column) => column.name === name) ?? { name, holds: 'anything' };
}

/** Turns what the file says into requests, in place; says whether they are out of order. */
function settle(table: RequestTable, extras: Extras, relativeDeadlines: boolean, place: Trace['place']): boolean {
  const { arrivalUs, count, deadlineUs, flags, inputTokens, maxOutputTokens, outputTokens, prefixGroup, sourceId } =
    table;
  const { serverTokens, wantedUs } = extras;
  const prefixTokens = prefixLengths(table, extras);
  let unsorted = false;
  let idsAscend = true;
  let lastId = -1;
  let lastArrival = 0;
  for (let row = 0; row < count; row++) {
    const id = sourceId[row]!;
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
    maxOutputTokens[row] = outputTokens[row]!;
    flags[row] = flags[row] === 1 ? ROW_STREAMING : 0;
  }
  if (!idsAscend) checkIds(table, place);
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

function checkIds({ count, sourceId }: RequestTable, place: Trace['place']): void {
  const seen = new Map<number, number>();
  for (let row = 0; row < count; row++) {
    const id = sourceId[row]!;
    const first = seen.get(id);
    if (first !== undefined) throw duplicateId(place(row, 'request_id'), id, place(first, 'request_id'));
    seen.set(id, row);
  }
}
