import type { Flag } from '../flags/flag.js';
import { instanceFlags } from '../flags/instance-flags.js';
import { choiceFlag, count, file, MAX_SPAN_US, numberFlag, stringFlag, toggle } from '../flags/kinds.js';
import { outputFlags } from '../flags/output-flags.js';
import { replayWorkloadFlags } from '../flags/replay-workload-flags.js';
import { runWorkloadFlags } from '../flags/run-workload-flags.js';
import { tracePartFlags } from '../flags/trace-part-flags.js';
import { readHeaders, readKey, readServerUrl } from './read-server-flags.js';

/** The server and the API. */
export const observedServerFlags = {
  'server-url': {
    ...stringFlag({ default: null, placeholder: 'url', help: 'the server, as http://host:port (required)' }),
    accepted: 'a URL such as http://127.0.0.1:8000',
    read: readServerUrl,
  } as Flag<string | null>,
  model: stringFlag({ default: null, placeholder: 'name', help: 'the model name in requests (required)' }),
  'api-format': choiceFlag({ default: 'completions', known: ['completions', 'chat'], help: 'the API to call' }),
  'no-streaming': toggle({ help: 'request responses that are not streamed' }),
  'unconstrained-output': toggle({ help: 'let the model end its output instead of forcing the planned length' }),
  'api-key': {
    ...stringFlag({
      default: null,
      placeholder: 'key',
      defaultText: 'TWINYARD_API_KEY or OPENAI_API_KEY of the environment',
      help: 'API key of the server',
    }),
    // A key that is given twice must not be shown.
    repeats: true,
    read: readKey,
  } as Flag<string | null>,
  header: {
    ...stringFlag({ default: null, placeholder: 'name: value', help: 'a further header; repeat it for each' }),
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
  'think-time-ms': numberFlag({
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
    help: 'most requests in flight',
  }),
  'warmup-requests': count({ default: 0, max: 1_000_000, help: 'requests at the start that are not recorded' }),
  'prewarm-duration': numberFlag({
    default: 0,
    min: 0,
    max: 86_400,
    placeholder: 's',
    help: 'seconds of load before the first request',
  }),
  'max-lateness-ms': numberFlag({
    default: 10,
    min: 0,
    max: 1e6,
    placeholder: 'ms',
    help: 'fail when 1 % of the requests are sent later than this; 0: never',
  }),
  'rtt-ms': numberFlag({
    default: null,
    min: 0,
    max: 1e6,
    placeholder: 'ms',
    help: 'round-trip time to the server, for the header of the trace',
  }),
};

function unsaid<Value>(flag: Flag<Value>): Flag<Value | null> {
  return { ...flag, default: null, defaultText: 'as the server reports' };
}

/** Settings that the server does not report, for the header of the trace. */
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
  'trace-output': file({ placeholder: 'prefix', help: 'write the observed trace as prefix.yaml and prefix.csv' }),
  'trace-header': file({ help: 'the same with a name for the header; needs --trace-data' }),
  'trace-data': file({ help: 'the same with a name for the data; needs --trace-header' }),
  'record-itl': toggle({ help: 'write the time of each chunk of each response' }),
  'itl-output': file({ defaultText: "beside the trace's data, .itl.csv", help: 'output file (CSV)' }),
  'scrape-kv-metrics': toggle({ help: "write samples of the server's /metrics" }),
  'kv-metrics-output': file({ defaultText: "beside the trace's data, .metrics.csv", help: 'output file (CSV)' }),
  'scrape-interval-ms': count({ default: 1000, min: 10, max: 3_600_000, help: 'milliseconds between samples' }),
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
