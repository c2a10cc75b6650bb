import { linkResponses } from '../../workload/sessions/link-responses.js';
import { type ClientOptions, replayedTrace } from '../../workload/tools/replayed-trace.js';
import type { Trace, TraceHeader, TracePart } from '../../workload/trace.js';
import { readTraceV2 } from '../../workload/trace-v2/read-trace.js';
import type { Workload } from '../../workload/workload.js';
import type { Diagnostics } from '../diagnostics.js';
import { missingFlag } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { OutputFlags } from '../flags/output-flags.js';
import type { ClientFlags, ReplayWorkloadFlags } from '../flags/replay-workload-flags.js';
import { tracePartOf } from '../flags/trace-part-flags.js';
import type { TracePaths } from './replay-workload.js';
import { warnOfMissingSessions } from './workload-warnings.js';

export interface ReplayWorkload {
  workload: Workload;
  header: TraceHeader;
  facts: Record<string, unknown>;
  /** Requests that the client has in flight at most; undefined: any number. */
  maxInFlight: number | undefined;
  /** What to know of how the client sends them, a sentence each. */
  clientNotes: readonly string[];
}

/** The flags that set how a trace is read, apart from its files. */
export type TraceReadingFlags = Omit<
  ReplayWorkloadFlags,
  'trace' | 'trace-header' | 'trace-data' | 'decisions' | 'timeout' | keyof ClientFlags
> &
  Pick<OutputFlags, 'seed'>;

/** Reads the trace. In closed loop its sessions send their later turns when the turn before has ended. */
export async function readReplayWorkload(
  flags: FlagValues<TraceReadingFlags>,
  paths: TracePaths,
  diagnostics: Diagnostics,
  client: ClientOptions = {},
): Promise<ReplayWorkload> {
  const { values } = flags;
  const part = tracePartOf(flags);
  const { arrivalTimes, maxInFlight, notes: clientNotes, trace } = replayedTrace(await readTrace(paths, part), client);
  linkResponses(trace);
  if (trace.unsorted) {
    diagnostics.warn(`${paths.data.path}: requests are not in order of arrival; they are replayed in order of time`);
  }
  for (const note of trace.notes ?? []) diagnostics.warn(`${paths.data.path}: ${note}`);
  const at = arrivalTimes === null ? '' : `, due at their ${arrivalTimes} times`;
  diagnostics.info(`${paths.data.path}: ${trace.table.count} requests${at}`);
  const facts: Record<string, unknown> = {
    command: 'replay',
    traceFormat: trace.format,
    ...(paths.header === null ? {} : { traceHeader: paths.header.path }),
    traceData: paths.data.path,
    ...(part === undefined ? {} : { tracePart: part }),
    ...(arrivalTimes === null ? {} : { arrivalTimes }),
    ...(client.timeoutUs === undefined ? {} : { timeoutUs: client.timeoutUs }),
    sessionMode: values['session-mode'],
  };
  const common = { header: trace.header, maxInFlight, clientNotes };
  if (values['session-mode'] === 'fixed') return { ...common, workload: { table: trace.table }, facts };

  const [{ thinkTimeOf }, { closedLoopWorkload }] = await Promise.all([
    import('../../workload/sessions/think-time.js'),
    import('../../workload/sessions/trace-session-driver.js'),
  ]);
  const thinkTimeMs = values['think-time-ms'] ?? undefined;
  const thinkTimeDist = values['think-time-dist'] ?? undefined;
  const thinkTime = thinkTimeOf({ thinkTimeMs, thinkTimeDist }, values.seed);
  warnOfMissingSessions(trace.table, paths.data.path, diagnostics);
  return {
    ...common,
    workload: closedLoopWorkload(trace, thinkTime, client.timeoutUs),
    facts: { ...facts, thinkTimeMs, thinkTimeDist },
  };
}

/** A named pair is a TraceV2; the format of data alone is recognised by content. */
async function readTrace({ header, data }: TracePaths, part: TracePart | undefined): Promise<Trace> {
  if (header !== null) {
    if (part === undefined) return readTraceV2(header.path, data.path);
    const { readTracePart } = await import('../../workload/trace-v2/trace-part.js');
    return readTracePart(header.path, data.path, part);
  }
  const { readAs, traceFormatOf } = await import('../../workload/formats/read-any-trace.js');
  const { headerBeside } = await import('../../workload/formats/trace-v2.js');
  const format = await traceFormatOf(data.path);
  if (format.name === 'trace-v2' && headerBeside(data.path) === null) {
    const hint = 'give --trace-header, or put the header beside the data under the same name';
    throw missingFlag('--trace-header', `is required: ${data.path} is a TraceV2 without a header`, hint);
  }
  return readAs(format, data.path, part);
}
