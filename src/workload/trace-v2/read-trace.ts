import { statSync } from 'node:fs';
import { headerInvalid } from '../errors.js';
import { inputChunks } from '../input-chunks.js';
import { readInputFile, readWholeFile } from '../input-file.js';
import { OBSERVED_OUTCOMES } from '../observed.js';
import { includeContext } from '../sessions/include-context.js';
import type { Trace, TraceHeader } from '../trace.js';
import { TraceDataReader } from './data/read-data.js';
import { readTraceHeader } from './header/read-header.js';

const NO_HEADER: TraceHeader = {
  mode: '',
  sessionContextGrowth: '',
  goodputTargets: {},
  place: (key) => `the missing header (${key})`,
};

const OK = OBSERVED_OUTCOMES.indexOf('ok');

export interface TraceV2Options {
  /** Read outcomes of any trace, not only of an observed one. */
  seen?: boolean;
}

/** Reads a TraceV2 pair. Either file may be gzipped. Without a header the data is taken as generated. */
export async function readTraceV2(
  headerPath: string | null,
  dataPath: string,
  { seen = false }: TraceV2Options = {},
): Promise<Trace> {
  const header = headerPath === null ? NO_HEADER : await readHeader(headerPath);
  const { blockTokens } = header;
  if (blockTokens === 0) throw headerInvalid(header.place('block_tokens'), 'is 0', 'give at least 1');
  const isReal = header.mode === 'real';
  const options = { blockTokens, seen: seen || isReal };
  const reader = new TraceDataReader(dataPath, plainSize(dataPath), () => readWholeFile(dataPath), options);
  for await (const chunk of inputChunks(dataPath)) reader.push(chunk, false);
  reader.push(Buffer.alloc(0), true);
  const trace: Trace = { format: 'trace-v2', header, ...reader.finish(isReal) };
  if (header.sessionContextGrowth === 'included') includeContext(trace.table);
  const notes = observedNotes(trace);
  return notes.length === 0 ? trace : { ...trace, notes };
}

/** The size of what will be read; 0 when the file is packed. */
function plainSize(path: string): number {
  return path.endsWith('.gz') ? 0 : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
}

async function readHeader(path: string): Promise<TraceHeader> {
  return readTraceHeader((await readInputFile(path)).toString('utf8'), path);
}

/** Warnings for a replay of an observed trace. */
function observedNotes({ header, observed }: Trace): string[] {
  const notes: string[] = [];
  if (header.partial !== undefined) notes.push(`the trace is partial: ${header.partial}`);
  if (header.late !== undefined) notes.push(`requests were sent late: ${header.late}`);
  if (observed?.sent === undefined) return notes;
  const failed = observed.outcome.filter((outcome) => outcome !== OK).length;
  if (failed > 0) {
    notes.push(
      `${failed} of ${observed.outcome.length} requests have no complete response and are replayed as planned; --trace-answered leaves them out`,
    );
  }
  return notes;
}
