import { existsSync, statSync } from 'node:fs';
import type { InputError } from '../../kernel/errors.js';
import { formatsMixed, formatUnknown, partUnknown, traceEmpty, workloadNotTrace } from '../errors.js';
import { inputChunks } from '../input-chunks.js';
import { isInferencePerf } from '../spec/inference-perf/is-inference-perf.js';
import type { Trace, TracePart } from '../trace.js';
import type { FileStart, TraceFormat } from './format.js';
import { LineError } from './records/read-records.js';
import { TRACE_FORMATS } from './registry.js';

const START_BYTES = 64 * 1024;

/** Reads a trace of any known format, detected by how the file starts. */
export async function readAnyTrace(path: string, part?: TracePart): Promise<Trace> {
  return readAs(await traceFormatOf(path), path, part);
}

/** Reads a trace, or a part of it, whose format is known. */
export async function readAs(format: TraceFormat, path: string, part: TracePart | undefined): Promise<Trace> {
  if (part !== undefined && format.readPart === undefined) throw partUnknown(path, format.name);
  try {
    return await (part === undefined ? format.read(path) : format.readPart!(path, part));
  } catch (error) {
    throw error instanceof LineError ? (mixedFormats(format, error) ?? error) : error;
  }
}

/** The error to report when a line is wrong because another format begins there; otherwise null. */
function mixedFormats(expected: TraceFormat, { file, line, number }: LineError): InputError | null {
  if (number < 2) return null;
  const start = { path: file, isFolder: false, bytes: Buffer.from(line), text: line };
  const found = TRACE_FORMATS.find((format) => format.detect(start));
  if (found === undefined || found === expected) return null;
  return formatsMixed(`${file}:${number}:1`, found.name, expected.name);
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
