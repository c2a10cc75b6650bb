import { readInputFile } from '../input-file.js';
import type { Trace, TraceHeader } from '../trace.js';
import { readTraceData } from './read-data.js';
import { readTraceHeader } from './read-header.js';

const NO_HEADER: TraceHeader = {
  mode: '',
  sessionContextGrowth: '',
  goodputTargets: {},
  place: (key) => `the missing header (${key})`,
};

/** Reads a TraceV2 pair. Either file may be gzipped. Without a header the data is taken as generated. */
export async function readTraceV2(headerPath: string | null, dataPath: string): Promise<Trace> {
  const header = headerPath === null ? NO_HEADER : await readHeader(headerPath);
  const data = readTraceData(await readInputFile(dataPath), dataPath, header.mode === 'real');
  return { format: 'trace-v2', header, ...data };
}

async function readHeader(path: string): Promise<TraceHeader> {
  return readTraceHeader((await readInputFile(path)).toString('utf8'), path);
}
