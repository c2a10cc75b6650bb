import { partEmpty, partUnknown } from '../errors.js';
import { OBSERVED_OUTCOMES } from '../observed.js';
import { selectRows } from '../tools/select-rows.js';
import type { Trace, TracePart } from '../trace.js';
import { readTraceV2 } from './read-trace.js';

const OK = OBSERVED_OUTCOMES.indexOf('ok');

/** Reads the selected requests of an observed trace; other traces have no outcomes. */
export async function readTracePart(headerPath: string | null, dataPath: string, part: TracePart): Promise<Trace> {
  const trace = await readTraceV2(headerPath, dataPath);
  const { header, observed, table } = trace;
  if (observed === undefined) throw partUnknown(dataPath, 'trace-v2');
  const known = table.models.names().filter((name) => name !== '');
  const isWanted = (row: number) =>
    (part.model === undefined || table.models.name(table.model[row]!) === part.model) &&
    (!part.answered || observed.outcome[row] === OK);
  const rows = Int32Array.from({ length: table.count }, (_, row) => row).filter(isWanted);
  if (rows.length === 0) throw partEmpty(dataPath, part.model, known);
  const left = selectRows(trace, rows);
  return { ...left, notes: header.partial === undefined ? [] : [`the trace is partial: ${header.partial}`] };
}
