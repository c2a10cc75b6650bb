import { choiceFlag, file, MAX_SPAN_US, numberFlag, stringFlag } from './kinds.js';
import { tracePartFlags } from './trace-part-flags.js';

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
};

export type ReplayWorkloadFlags = typeof replayWorkloadFlags;
