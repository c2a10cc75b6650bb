import { readInputFile } from '../input-file.js';
import { readTraceData } from './read-data.js';
import { readTraceHeader } from './read-header.js';
import type { TraceV2 } from './trace.js';

/** Reads a TraceV2 pair. Either file may be gzipped. */
export async function readTraceV2(headerPath: string, dataPath: string): Promise<TraceV2> {
  const header = await readTraceHeader((await readInputFile(headerPath)).toString('utf8'), headerPath);
  const data = readTraceData(await readInputFile(dataPath), dataPath, header.mode === 'real');
  return { header, ...data };
}
