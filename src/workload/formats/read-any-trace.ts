import { existsSync, statSync } from 'node:fs';
import { formatUnknown, partUnknown, traceEmpty, workloadNotTrace } from '../errors.js';
import { inputChunks } from '../input-chunks.js';
import type { Trace } from '../trace.js';
import type { FileStart, TraceFormat, TracePart } from './format.js';
import { isInferencePerf } from './is-inference-perf.js';
import { TRACE_FORMATS } from './registry.js';

const START_BYTES = 64 * 1024;

/** Reads a trace of any known format, told apart by what the file starts with. */
export async function readAnyTrace(path: string, part?: TracePart): Promise<Trace> {
  return readAs(await traceFormatOf(path), path, part);
}

/** Reads a trace, or a part of it, whose format is known. */
export async function readAs(format: TraceFormat, path: string, part: TracePart | undefined): Promise<Trace> {
  if (part === undefined) return format.read(path);
  if (format.readPart === undefined) throw partUnknown(path, format.name);
  return format.readPart(path, part);
}

export async function traceFormatOf(path: string): Promise<TraceFormat> {
  const start = await fileStart(path);
  const format = TRACE_FORMATS.find((candidate) => candidate.detect(start));
  if (format !== undefined) return format;
  if (!start.isFolder && start.text.trim() === '') throw traceEmpty(path);
  if (isInferencePerf(start.text)) throw workloadNotTrace(path);
  throw formatUnknown(path, TRACE_FORMATS);
}

async function fileStart(path: string): Promise<FileStart> {
  if (existsSync(path) && statSync(path).isDirectory()) {
    return { path, isFolder: true, bytes: Buffer.alloc(0), text: '' };
  }
  let bytes = Buffer.alloc(0);
  for await (const chunk of inputChunks(path)) {
    bytes = Buffer.concat([bytes, chunk.subarray(0, START_BYTES)]);
    if (bytes.length >= START_BYTES) break;
  }
  bytes = bytes.subarray(0, START_BYTES);
  return { path, isFolder: false, bytes, text: bytes.toString('utf8').replace(/^\ufeff/, '') };
}
