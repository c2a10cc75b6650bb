import { existsSync } from 'node:fs';
import type { TraceFormat } from '../../workload/formats/format.js';
import { TraceSessions } from '../../workload/sessions/trace-sessions.js';
import type { Trace, TracePart } from '../../workload/trace.js';
import type { Diagnostics } from '../diagnostics.js';
import type { NamedPath } from '../output/output-files.js';

/** A trace that an argument names, recognised but not read yet. */
export interface InputTrace {
  path: string;
  format: TraceFormat;
  /** Every file that will be read. */
  files: NamedPath[];
  read(diagnostics: Diagnostics): Promise<Trace>;
}

/** Finds a trace by its file or, for a TraceV2, by what its two files share, and recognises its format. */
export async function inputTrace(given: string, part?: TracePart): Promise<InputTrace> {
  const [{ readAs, traceFormatOf }, { headerBeside, traceV2 }] = await Promise.all([
    import('../../workload/formats/read-any-trace.js'),
    import('../../workload/formats/trace-v2.js'),
  ]);
  const path = [given, `${given}.csv`, `${given}.csv.gz`].find((candidate) => existsSync(candidate)) ?? given;
  const format = await traceFormatOf(path);
  const header = format === traceV2 ? headerBeside(path) : null;
  const flag = 'FILE';
  return {
    path,
    format,
    files: [...(format.files?.(path) ?? [path]), ...(header === null ? [] : [header])].map((file) => ({
      flag,
      path: file,
    })),
    async read(diagnostics) {
      const trace = await readAs(format, path, part);
      for (const note of trace.notes ?? []) diagnostics.warn(`${path}: ${note}`);
      if (trace.unsorted) diagnostics.warn(`${path}: requests are not in order of arrival; they are sorted by time`);
      // Sessions with missing turns are refused.
      new TraceSessions(trace);
      return trace;
    },
  };
}
