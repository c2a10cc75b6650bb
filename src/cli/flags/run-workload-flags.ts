import { above, number as numberSchema } from '../../schema/fields.js';
import { LENGTH_PRESETS, WORKLOADS } from '../../workload/generate/presets.js';
import type { Flag } from './flag.js';
import { choiceFlag, count, file, listFlag, MAX_INT32, MAX_SPAN_US, numberFlag, positive } from './kinds.js';
import { readNumber } from './read-number.js';

const { prompt, output } = LENGTH_PRESETS.distribution!;
const lengths = { min: 1, max: MAX_INT32 };
const spread = { min: 0, max: MAX_INT32 };

/** What arrives in `run`: a generated stream of requests. */
export const runWorkloadFlags = {
  workload: choiceFlag({
    default: 'distribution',
    known: WORKLOADS,
    help: 'requests to generate: by the flags below, or a preset',
  }),
  'workload-spec': file({ help: 'a workload specification: clients, cohorts, sessions (YAML)' }),
  rate: positive({
    default: 1,
    max: 1_000_000,
    defaultText: '1, or as specified',
    help: 'requests per second of all clients together',
  }),
  concurrency: count({
    default: null,
    min: 1,
    max: 10_000_000,
    help: 'clients that wait for each response, instead of a rate',
  }),
  'think-time-ms': numberFlag({
    default: 0,
    min: 0,
    max: MAX_SPAN_US / 1000,
    placeholder: 'ms',
    help: 'pause of a client between two requests',
  }),
  'num-requests': count({
    default: 100,
    min: 1,
    max: 100_000_000,
    defaultText: '100, or as specified',
    help: 'requests to generate',
  }),
  'prompt-tokens': count({ ...lengths, default: prompt.mean, help: 'mean prompt length' }),
  'prompt-tokens-stdev': numberFlag({ ...spread, default: prompt.stdev, help: 'standard deviation of it' }),
  'prompt-tokens-min': count({ ...lengths, default: prompt.min, help: 'shortest prompt' }),
  'prompt-tokens-max': count({ ...lengths, default: prompt.max, help: 'longest prompt' }),
  'output-tokens': count({ ...lengths, default: output.mean, help: 'mean output length' }),
  'output-tokens-stdev': numberFlag({ ...spread, default: output.stdev, help: 'standard deviation of it' }),
  'output-tokens-min': count({ ...lengths, default: output.min, help: 'shortest output' }),
  'output-tokens-max': count({ ...lengths, default: output.max, help: 'longest output' }),
  'prefix-tokens': count({ default: 0, max: MAX_INT32, help: 'prompt tokens that all requests share, added in front' }),
  timeout: timeoutFlag({ default: 300, defaultText: '300, or as specified' }),
};

export type RunWorkloadFlags = typeof runWorkloadFlags;

/** `--timeout`: when the client gives up on a request. */
export function timeoutFlag<D extends number | null>(spec: { default: D; defaultText: string }): Flag<number | D> {
  return listFlag<number | D>({
    ...spec,
    placeholder: 's',
    accepted: 'seconds above 0, or a negative number for no timeout',
    read: readTimeout,
    help: 'seconds until a client gives up; negative: never',
  });
}

function readTimeout(text: string, place: string): number {
  const seconds = readNumber(text, place, numberSchema(undefined, 1e9));
  // 0 is ambiguous: it may mean "at once" or "never".
  return seconds === 0 ? readNumber(text, place, above(0, 1e9)) : seconds;
}
