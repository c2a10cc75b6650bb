import { NameTable } from '../../kernel/name-table.js';
import { LF } from '../../kernel/text/ascii.js';
import { readInputFile } from '../../workload/input-file.js';
import { OBSERVED_OUTCOMES } from '../../workload/observed.js';
import { type RequestTable, ROW_STREAMING, sourceIdOf } from '../../workload/request-table.js';
import type { Trace } from '../../workload/trace.js';
import { type CsvColumn, CsvColumns } from '../../workload/trace-v2/data/csv-columns.js';
import { CsvFile } from '../../workload/trace-v2/data/csv-file.js';
import { readLayout } from '../../workload/trace-v2/data/layout.js';
import { traceNotMeasured } from './errors.js';
import type { MeasuredRequest } from './measured-request.js';

/** Outcomes of complete requests. An empty one is complete too. */
const WHOLE = ['', 'ok'];
const CACHED = 'server_cached_tokens';

/**
 * The measurements of a trace's requests, in its order. `trace` was read from the data at `path`: a TraceV2 keeps
 * response times in columns that a replay does not use, so its data is read once more.
 */
export async function readMeasured(trace: Trace, path: string): Promise<MeasuredRequest[]> {
  const requests = trace.format === 'trace-v2' ? await fromColumns(trace.table, path) : fromObserved(trace);
  if (requests.some(({ ttftUs }) => ttftUs >= 0)) return requests;
  throw traceNotMeasured(path, requests.length);
}

/** Formats with outcomes keep them next to the table. */
function fromObserved({ observed, table }: Trace): MeasuredRequest[] {
  return rowsOf(table, (row) => ({
    sentUs: table.arrivalUs[row]!,
    ttftUs: observed?.ttftUs[row] ?? Number.NaN,
    e2eUs: observed?.e2eUs[row] ?? Number.NaN,
    countedInputTokens: table.inputTokens[row]!,
    cachedTokens: observed?.cachedTokens[row] ?? -1,
    completed: observed === undefined || OBSERVED_OUTCOMES[observed.outcome[row]!] === 'ok',
    timedOut: observed !== undefined && OBSERVED_OUTCOMES[observed.outcome[row]!] === 'timeout',
  }));
}

async function fromColumns(table: RequestTable, path: string): Promise<MeasuredRequest[]> {
  const file = new CsvFile(await readInputFile(path), path);
  const { end, names, required } = readLayout(file, path);
  const columns = measuredColumns(file.bytes.reduce((lines, byte) => lines + (byte === LF ? 1 : 0), 0));
  const reader = new CsvColumns(file, names.map(columnOf(columns)), required);
  const { cached, first, id, input, last, sent, server, status, wanted } = columns;
  // The table may hold a part of the requests.
  const lineOf = new Map<number, number>();
  for (let begin = file.nextRow(end); begin < file.bytes.length; begin = file.nextRow(begin)) {
    const line = lineOf.size;
    begin = reader.read(begin, line);
    lineOf.set(id[line]!, line);
  }
  const tellsCached = names.includes(CACHED);
  return rowsOf(table, (row) => {
    const line = lineOf.get(sourceIdOf(table, row))!;
    // As in a replay: without a send time the due time counts. A time of 0 is missing.
    const sentUs = sent[line]! > 0 ? sent[line]! : wanted[line]!;
    const since = (us: number) => (us > 0 ? us - sentUs : Number.NaN);
    return {
      sentUs: table.arrivalUs[row]!,
      ttftUs: since(first[line]!),
      e2eUs: since(last[line]!),
      countedInputTokens: server[line]! > 0 ? server[line]! : input[line]!,
      cachedTokens: tellsCached ? cached[line]! : -1,
      completed: WHOLE.includes(status.names.name(status.into[line]!)),
      timedOut: status.names.name(status.into[line]!) === 'timeout',
    };
  });
}

function measuredColumns(rows: number) {
  return {
    id: new Float64Array(rows),
    wanted: new Float64Array(rows),
    sent: new Float64Array(rows),
    first: new Float64Array(rows),
    last: new Float64Array(rows),
    input: new Float64Array(rows),
    server: new Float64Array(rows),
    cached: new Float64Array(rows),
    status: { names: new NameTable(), into: new Int32Array(rows) },
  };
}

function columnOf(columns: ReturnType<typeof measuredColumns>): (name: string) => CsvColumn {
  const { cached, first, id, input, last, sent, server, status, wanted } = columns;
  const whole = { holds: 'whole', min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER } as const;
  const known: CsvColumn[] = [
    { name: 'request_id', ...whole, into: id },
    { name: 'arrival_time_us', ...whole, into: wanted },
    { name: 'send_time_us', ...whole, into: sent },
    { name: 'first_chunk_time_us', ...whole, into: first },
    { name: 'last_chunk_time_us', ...whole, into: last },
    { name: 'input_tokens', ...whole, into: input },
    { name: 'server_input_tokens', ...whole, into: server },
    { name: CACHED, ...whole, into: cached, emptyIsZero: true },
    { name: 'status', holds: 'name', names: status.names, max: 2 ** 31 - 1, into: status.into },
  ];
  return (name) => known.find((column) => column.name === name) ?? { name, holds: 'anything' };
}

type RowFacts = Omit<MeasuredRequest, 'id' | 'inputTokens' | 'outputTokens' | 'sloClass' | 'streamed'>;

function rowsOf(table: RequestTable, factsOf: (row: number) => RowFacts): MeasuredRequest[] {
  return Array.from({ length: table.count }, (_, row) => {
    const facts = factsOf(row);
    return {
      ...facts,
      id: sourceIdOf(table, row),
      inputTokens: table.inputTokens[row]!,
      outputTokens: table.outputTokens[row]!,
      sloClass: table.sloClasses.name(table.sloClass[row]!),
      streamed: (table.flags[row]! & ROW_STREAMING) !== 0 || facts.ttftUs < facts.e2eUs,
    };
  });
}
