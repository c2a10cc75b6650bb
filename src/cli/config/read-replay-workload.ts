import { readTraceV2 } from '../../workload/trace-v2/read-trace.js';
import type { TraceHeader } from '../../workload/trace.js';
import type { Workload } from '../../workload/workload.js';
import type { Diagnostics } from '../diagnostics.js';
import type { FlagValues } from '../flags/flag.js';
import type { OutputFlags } from '../flags/output-flags.js';
import type { ReplayWorkloadFlags } from '../flags/replay-workload-flags.js';
import type { TracePaths } from './replay-workload.js';
import { warnOfMissingSessions } from './workload-warnings.js';

export interface ReplayWorkload {
  workload: Workload;
  header: TraceHeader;
  facts: Record<string, unknown>;
}

/** Reads the trace and, in closed loop, puts its chats in charge of their later turns. */
export async function readReplayWorkload(
  flags: FlagValues<ReplayWorkloadFlags & OutputFlags>,
  paths: TracePaths,
  diagnostics: Diagnostics,
): Promise<ReplayWorkload> {
  const { values } = flags;
  const trace = await readTraceV2(paths.header.path, paths.data.path);
  if (trace.unsorted) {
    diagnostics.warn(`${paths.data.path}: requests are not in order of arrival; they are replayed in order of time`);
  }
  diagnostics.info(`${paths.data.path}: ${trace.table.count} requests`);
  const facts: Record<string, unknown> = {
    command: 'replay',
    traceHeader: paths.header.path,
    traceData: paths.data.path,
    sessionMode: values['session-mode'],
  };
  const { header } = trace;
  if (values['session-mode'] === 'fixed') return { workload: { table: trace.table }, header, facts };

  const [{ thinkTimeOf }, { closedLoopWorkload }] = await Promise.all([
    import('../../workload/sessions/think-time.js'),
    import('../../workload/sessions/trace-session-driver.js'),
  ]);
  const thinkTimeMs = values['think-time-ms'] ?? undefined;
  const thinkTimeDist = values['think-time-dist'] ?? undefined;
  const thinkTime = thinkTimeOf({ thinkTimeMs, thinkTimeDist }, values.seed);
  warnOfMissingSessions(trace.table, paths.data.path, diagnostics);
  return {
    workload: closedLoopWorkload(trace, thinkTime),
    header,
    facts: { ...facts, thinkTimeMs, thinkTimeDist },
  };
}
