import type { Flag } from '../flags/flag.js';
import { instanceFlags } from '../flags/instance-flags.js';
import { choice, count, file, MAX_SPAN_US, number, text, toggle } from '../flags/kinds.js';
import { outputFlags } from '../flags/output-flags.js';
import { replayWorkloadFlags } from '../flags/replay-workload-flags.js';
import { runWorkloadFlags } from '../flags/run-workload-flags.js';
import { tracePartFlags } from '../flags/trace-part-flags.js';
import { readHeaders, readKey, readServerUrl } from './read-server-flags.js';

/** Who is measured and what it is sent. */
export const observedServerFlags = {
  'server-url': {
    ...text({ default: null, placeholder: 'url', help: 'the server, as http://host:port (required)' }),
    accepted: 'a URL such as http://127.0.0.1:8000',
    read: readServerUrl,
  } as Flag<string | null>,
  model: text({ default: null, placeholder: 'name', help: 'what requests call the model (required)' }),
  'api-format': choice({ default: 'completions', known: ['completions', 'chat'], help: 'what requests ask for' }),
  'no-streaming': toggle({ help: 'ask for answers in one piece' }),
  'unconstrained-output': toggle({ help: 'let answers end by themselves, not where planned' }),
  'api-key': {
    ...text({
      default: null,
      placeholder: 'key',
      defaultText: 'TWINYARD_API_KEY or OPENAI_API_KEY of the environment',
      help: 'key for the server',
    }),
    // A key that is given twice must not be shown.
    repeats: true,
    read: readKey,
  } as Flag<string | null>,
  header: {
    ...text({ default: null, placeholder: 'name: value', help: 'a further header; once for each' }),
    default: {},
    accepted: "a header such as 'x-team: search'",
    repeats: true,
    read: readHeaders,
  } as Flag<Record<string, string>>,
};

/** What is sent: generated as by `run`, or the requests of a trace as by `replay`. */
export const observePlanFlags = {
  trace: file({
    placeholder: 'prefix',
    help: 'send the requests of a trace: prefix.yaml and prefix.csv, or a file of any known format',
  }),
  ...tracePartFlags,
  'session-mode': replayWorkloadFlags['session-mode'],
  ...runWorkloadFlags,
  'think-time-ms': number({
    default: null,
    min: 0,
    max: MAX_SPAN_US / 1000,
    placeholder: 'ms',
    defaultText: '0, or recorded',
    help: 'pause of a client between two requests',
  }),
  'think-time-dist': replayWorkloadFlags['think-time-dist'],
  seed: outputFlags.seed,
  horizon: { ...outputFlags.horizon, help: 'microseconds after which nothing more is sent' },
};

/** How it is sent. */
export const observeLoadFlags = {
  'max-concurrency': count({
    default: null,
    min: 1,
    max: 1_000_000,
    defaultText: '256, or --concurrency',
    help: 'requests under way at most',
  }),
  'warmup-requests': count({ default: 0, max: 1_000_000, help: 'requests at the beginning that are not recorded' }),
  'prewarm-duration': number({
    default: 0,
    min: 0,
    max: 86_400,
    placeholder: 's',
    help: 'seconds for which the server is kept busy before',
  }),
  'max-lateness-ms': number({
    default: 10,
    min: 0,
    max: 1e6,
    placeholder: 'ms',
    help: 'fail when 1 % of the requests are sent this much too late; 0: never',
  }),
  'rtt-ms': number({
    default: null,
    min: 0,
    max: 1e6,
    placeholder: 'ms',
    help: 'the way to the server and back, for the header of the trace',
  }),
};

function unsaid<Value>(flag: Flag<Value>): Flag<Value | null> {
  return { ...flag, default: null, defaultText: 'what the server tells' };
}

/** What the server does not tell about itself, for the header of the trace. */
export const serverSettingFlags = {
  hardware: unsaid(instanceFlags.hardware),
  tp: unsaid(instanceFlags.tp),
  'max-num-seqs': unsaid(instanceFlags['max-num-seqs']),
  'max-num-batched-tokens': unsaid(instanceFlags['max-num-batched-tokens']),
  'block-size-in-tokens': unsaid(instanceFlags['block-size-in-tokens']),
  'gpu-memory-utilization': unsaid(instanceFlags['gpu-memory-utilization']),
  'total-kv-blocks': unsaid(instanceFlags['total-kv-blocks']),
  'max-model-len': unsaid(instanceFlags['max-model-len']),
};

/** What is written. */
export const observeOutputFlags = {
  'trace-output': file({ placeholder: 'prefix', help: 'write what was observed as prefix.yaml and prefix.csv' }),
  'trace-header': file({ help: 'the same, the header alone: with --trace-data' }),
  'trace-data': file({ help: 'the same, the data alone: with --trace-header' }),
  'record-itl': toggle({ help: 'write when each piece of each answer came' }),
  'itl-output': file({ defaultText: "beside the trace's data, .itl.csv", help: 'where to (CSV)' }),
  'scrape-kv-metrics': toggle({ help: "write what the server's /metrics say along the way" }),
  'kv-metrics-output': file({ defaultText: "beside the trace's data, .metrics.csv", help: 'where to (CSV)' }),
  'scrape-interval-ms': count({ default: 1000, min: 10, max: 3_600_000, help: 'how often they are looked at' }),
  format: outputFlags.format,
  log: outputFlags.log,
};

export const observeFlags = {
  ...observedServerFlags,
  ...observePlanFlags,
  ...observeLoadFlags,
  ...serverSettingFlags,
  ...observeOutputFlags,
};

export type ObserveFlags = typeof observeFlags;
