import type { Trace, TracePart } from '../../trace.js';
import type { TraceFormat } from '../format.js';
import { JsonRecord, recordPlace } from '../records/json-record.js';
import { eachLine } from '../records/read-records.js';
import { trafficFiles } from './traffic-files.js';
import { TrafficRows } from './traffic-rows.js';

/** Traffic recorded by `twinyard serve`: a line for every request at its end, including rotated files. */
export const traffic: TraceFormat = {
  name: 'traffic',
  summary: 'traffic that a gateway recorded: JSON lines with t_us, input_tokens, output_tokens, blocks and status',
  looksLike: 'JSON lines with t_us, input_tokens, block_size, blocks and status',
  // The fields before the blocks, of which there may be many.
  detect: ({ text }) => /^\s*\{[^\n]*"t_us"/.test(text) && /^\s*\{[^\n]*"block_size"/.test(text),
  read: (path) => readTraffic(path, {}),
  readPart: readTraffic,
  files: trafficFiles,
};

/** This format's names of TraceV2 columns, for errors found later. */
const FIELDS: Readonly<Record<string, string>> = {
  arrival_time_us: 't_us',
  client_id: 'model',
  round_index: 'session',
  session_id: 'session',
  tenant_id: 'tenant',
};

async function readTraffic(path: string, part: TracePart): Promise<Trace> {
  const rows = new TrafficRows(part);
  const files = trafficFiles(path);
  /** Lines before each file. */
  const before: number[] = [];
  let index = 0;
  let cutOff = 0;
  for (const file of files) {
    before.push(index);
    await eachLine(file, (line, number) => {
      if (isCutOff(line)) cutOff++;
      else rows.add(new JsonRecord(file, line, number), index);
      index++;
    });
  }
  return rows.trace(path, cutOff, (record, field) => {
    const file = before.findLastIndex((lines) => lines <= record);
    return recordPlace(files[file]!, record - before[file]!, FIELDS[field] ?? field);
  });
}

/** A line that was cut off: a record holds no nested object, so that a complete one ends with its only closing brace. */
function isCutOff(line: string): boolean {
  return line.startsWith('{') && !line.trimEnd().endsWith('}');
}
