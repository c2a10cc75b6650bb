import { choiceFlag, count, file, MAX_SPAN_US, numberFlag, stringFlag } from './kinds.js';
import { timeoutFlag } from './run-workload-flags.js';
import { tracePartFlags } from './trace-part-flags.js';

/** How the client that recorded a trace sent its requests. */
export const clientFlags = {
  'max-in-flight': count({
    default: null,
    max: 1_000_000,
    defaultText: 'as the header says',
    help: 'requests that the client has in flight at most: it holds back further ones; 0: any number',
  }),
  'arrival-times': choiceFlag({
    default: 'planned',
    known: ['planned', 'sent'],
    help: 'when requests of an observed trace are due, where it has both',
  }),
};

/** What arrives in `replay`: a recorded trace. */
export const replayWorkloadFlags = {
  trace: file({ placeholder: 'prefix', help: 'trace of prefix.yaml and prefix.csv, or a file as --trace-data' }),
  'trace-header': file({ help: "a TraceV2's YAML header" }),
  'trace-data': file({
    help: 'the trace, plain or gzipped: TraceV2, recorded traffic, Mooncake, Bailian and others, recognised by content',
  }),
  ...tracePartFlags,
  decisions: file({
    help: "decide again what a gateway decided, from the log that 'serve --decision-log' wrote; alone",
  }),
  'session-mode': choiceFlag({
    default: 'fixed',
    known: ['fixed', 'closed-loop'],
    help: 'later turns of a session: at recorded times, or after the response',
  }),
  'think-time-ms': numberFlag({
    default: null,
    min: 0,
    max: MAX_SPAN_US / 1000,
    placeholder: 'ms',
    defaultText: 'recorded',
    help: 'pause before the next turn (closed-loop)',
  }),
  'think-time-dist': stringFlag({
    default: null,
    placeholder: 'dist',
    help: 'pause drawn at random: lognormal:mu=,sigma=[,min=3s,max=30s] or constant:value=500ms',
  }),
  ...clientFlags,
  timeout: timeoutFlag({ default: null, defaultText: 'as recorded' }),
};

export type ClientFlags = typeof clientFlags;
export type ReplayWorkloadFlags = typeof replayWorkloadFlags;
