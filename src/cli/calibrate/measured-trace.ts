import { existsSync, statSync } from 'node:fs';
import { headerBeside, traceV2 } from '../../workload/formats/trace-v2.js';
import type { Trace, TracePart } from '../../workload/trace.js';
import { refuseGiven } from '../config/flag-conflicts.js';
import { missingFlag } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { NamedPath } from '../output/output-files.js';
import { traceFiles } from '../output/output-paths.js';
import type { MeasuredFlags } from './calibrate-flags.js';

/** A trace that flags name, not read yet. */
export interface MeasuredTrace {
  /** Null: the format has none, or it is beside the data. */
  header: NamedPath | null;
  data: NamedPath;
}

/** The traces that the flags name: one for each --trace, or the pair of --trace-header and --trace-data. */
export function measuredTraces(flags: FlagValues<MeasuredFlags>): MeasuredTrace[] {
  const { trace: traces, 'trace-data': data, 'trace-header': header } = flags.values;
  if (traces.length > 0) {
    const names = ['trace-header', 'trace-data'] as const;
    refuseGiven(flags, names, `--trace ${traces[0]} names the trace already`, 'keep one of them');
    return traces.map((given) => byPrefix(given));
  }
  const hint = 'give --trace-data (with --trace-header for a TraceV2), or --trace for a pair of one name';
  if (data === null && header === null) throw missingFlag('--trace', 'is required', hint);
  if (data === null) throw missingFlag('--trace-data', 'is required with --trace-header', hint);
  return [
    {
      header: header === null ? null : { flag: '--trace-header', path: header },
      data: { flag: '--trace-data', path: data },
    },
  ];
}

export function byPrefix(given: string, flag = '--trace'): MeasuredTrace {
  if (statSync(given, { throwIfNoEntry: false })?.isFile()) return { header: null, data: { flag, path: given } };
  const { data, header } = traceFiles(given);
  return { header: existsSync(header) ? { flag, path: header } : null, data: { flag, path: data } };
}

/** The file of its header; null where it has none. */
export function headerOf({ data, header }: MeasuredTrace): string | null {
  return header?.path ?? headerBeside(data.path);
}

/** Reads it, or a part of it, with the times of the responses. */
export async function readMeasuredTrace(trace: MeasuredTrace, part: TracePart | undefined): Promise<Trace> {
  const { data, header } = trace;
  const [{ readAs, traceFormatOf }, { readTraceV2 }, { readTracePart }] = await Promise.all([
    import('../../workload/formats/read-any-trace.js'),
    import('../../workload/trace-v2/read-trace.js'),
    import('../../workload/trace-v2/trace-part.js'),
  ]);
  const format = header === null ? await traceFormatOf(data.path) : traceV2;
  if (format !== traceV2) return readAs(format, data.path, part);
  if (part !== undefined) return readTracePart(headerOf(trace), data.path, part);
  return readTraceV2(headerOf(trace), data.path, { seen: true });
}
