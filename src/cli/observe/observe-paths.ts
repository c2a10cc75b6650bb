import { namedTrace, type TracePaths, traceInputs } from '../config/replay-workload.js';
import type { NamedPath } from '../output/output-files.js';
import { traceFiles } from '../output/output-paths.js';
import type { GivenObserveFlags } from './check-observe-flags.js';

/** Every output file; null for those that no flag names. */
export interface ObservePaths {
  header: NamedPath | null;
  data: NamedPath | null;
  itl: NamedPath | null;
  metrics: NamedPath | null;
}

export function observePaths({ values }: GivenObserveFlags): ObservePaths {
  const prefix = values['trace-output'];
  const pair = prefix === null ? null : traceFiles(prefix);
  const named = (flag: string, path: string | null): NamedPath | null => (path === null ? null : { flag, path });
  const header = named('--trace-output', pair?.header ?? null) ?? named('--trace-header', values['trace-header']);
  const data = named('--trace-output', pair?.data ?? null) ?? named('--trace-data', values['trace-data']);
  const beside = (ending: string) => `${data!.path.replace(/\.csv$/, '')}.${ending}.csv`;
  return {
    header,
    data,
    itl: values['record-itl'] ? named('--itl-output', values['itl-output'] ?? beside('itl')) : null,
    metrics: values['scrape-kv-metrics']
      ? named('--kv-metrics-output', values['kv-metrics-output'] ?? beside('metrics'))
      : null,
  };
}

export function writtenPaths(paths: ObservePaths): NamedPath[] {
  return Object.values(paths).filter((path) => path !== null);
}

/** The files of the trace that is sent; null when the plan is generated. */
export function sentTrace({ values: { trace } }: GivenObserveFlags): TracePaths | null {
  return trace === null ? null : namedTrace(trace);
}

export function planInputs(flags: GivenObserveFlags): NamedPath[] {
  const spec = flags.values['workload-spec'];
  const trace = sentTrace(flags);
  return [
    ...(spec === null ? [] : [{ flag: '--workload-spec', path: spec }]),
    ...(trace === null ? [] : traceInputs(trace)),
  ];
}
