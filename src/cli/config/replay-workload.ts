import { existsSync, statSync } from 'node:fs';
import { trafficFiles } from '../../workload/formats/traffic/traffic-files.js';
import type { ArrivalTimes } from '../../workload/tools/planned-times.js';
import type { ClientOptions } from '../../workload/tools/replayed-trace.js';
import { missingFlag, noTrace } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { ClientFlags, ReplayWorkloadFlags } from '../flags/replay-workload-flags.js';
import type { NamedPath } from '../output/output-files.js';
import { traceFiles } from '../output/output-paths.js';
import { refuseGiven } from './flag-conflicts.js';

export interface TracePaths {
  /** Null: the format has none, or it is beside the data. */
  header: NamedPath | null;
  data: NamedPath;
}

/** Every file of the trace that will be read. */
export function traceInputs({ data, header }: TracePaths): NamedPath[] {
  const files = trafficFiles(data.path).map((path) => ({ flag: data.flag, path }));
  return header === null ? files : [header, data];
}

/** Refuses workload flags that contradict each other; the trace's files. */
export function checkReplayWorkload(flags: FlagValues<ReplayWorkloadFlags>): TracePaths {
  const { values } = flags;
  if (values['session-mode'] === 'fixed') {
    const problem = 'turns come at their recorded times with --session-mode fixed';
    const names = ['think-time-ms', 'think-time-dist'] as const;
    refuseGiven(flags, names, problem, 'add --session-mode closed-loop, or leave it out');
  }
  if (values['think-time-ms'] !== null) {
    refuseGiven(flags, ['think-time-dist'], 'given together with --think-time-ms', 'keep one of them');
  }
  return tracePaths(flags);
}

/** How the client behaves, as far as flags say. */
export function clientOptions({ given, values }: FlagValues<ClientFlags>): ClientOptions {
  const cap = values['max-in-flight'];
  return {
    ...(given('arrival-times') ? { arrivalTimes: values['arrival-times'] as ArrivalTimes } : {}),
    ...(cap === null ? {} : { maxInFlight: cap }),
  };
}

/** The same for a command that has a time-out. */
export function replayClient(flags: FlagValues<ReplayWorkloadFlags>): ClientOptions {
  const { timeout } = flags.values;
  return {
    ...clientOptions(flags),
    ...(timeout === null ? {} : { timeoutUs: timeout > 0 ? Math.trunc(timeout * 1e6) : 0 }),
  };
}

function tracePaths(flags: FlagValues<ReplayWorkloadFlags>): TracePaths {
  const { trace, 'trace-header': header, 'trace-data': data } = flags.values;
  if (trace !== null) {
    const names = ['trace-header', 'trace-data'] as const;
    refuseGiven(flags, names, `--trace ${trace} names the trace already`, 'keep one of them');
    return namedTrace(trace);
  }
  const hint = 'give --trace-data (with --trace-header for a TraceV2), or --trace for a pair of one name';
  if (header === null && data === null) throw missingFlag('--trace', 'is required', hint);
  if (data === null) throw missingFlag('--trace-data', 'is required with --trace-header', hint);
  return {
    header: header === null ? null : { flag: '--trace-header', path: header },
    data: { flag: '--trace-data', path: data },
  };
}

/** The files of `--trace`: one file, or a pair that is named by what its two files share. */
export function namedTrace(trace: string): TracePaths {
  const flag = '--trace';
  if (isFile(trace)) return { header: null, data: { flag, path: trace } };
  const { data, header } = traceFiles(trace);
  if (!isFile(data) && !isFile(header)) throw noTrace(trace, existsSync(trace) ? 'is not a file' : 'no such file');
  return { header: { flag, path: header }, data: { flag, path: data } };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
