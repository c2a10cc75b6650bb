import { count, fraction, MAX_INT32, numberFlag, positive, stringFlag } from '../flags/kinds.js';
import { outputFlags } from '../flags/output-flags.js';

/** Where the engine listens and how it responds. */
export const engineFlags = {
  host: stringFlag({
    default: null,
    placeholder: 'address',
    defaultText: '127.0.0.1',
    help: 'address to listen on; 0.0.0.0 for all',
  }),
  port: count({ default: 9001, max: 65_535, help: 'port to listen on; 0 for a free one' }),
  'served-model-name': stringFlag({
    default: null,
    placeholder: 'name',
    defaultText: "the model's",
    help: 'what requests call the model',
  }),
  speed: positive({ default: 1, max: 1_000_000, help: "how many times as fast the model's time passes" }),
  'mean-output-tokens': positive({
    default: 200,
    max: 1_000_000,
    help: 'mean output tokens of requests without max_tokens',
  }),
  'max-num-queued-reqs': count({ default: 0, max: MAX_INT32, help: 'requests that may wait; 0: no limit' }),
  'max-body-bytes': count({
    default: 32 * 1024 * 1024,
    min: 1,
    max: 2 ** 30,
    help: 'largest request body',
  }),
  drain: numberFlag({
    default: 30,
    min: 0,
    max: 86_400,
    placeholder: 's',
    help: 'seconds that requests get to end when it stops',
  }),
  seed: outputFlags.seed,
  log: outputFlags.log,
};

/** What goes wrong, and how often. */
export const faultFlags = {
  'startup-delay': numberFlag({
    default: 0,
    min: 0,
    max: 86_400,
    placeholder: 's',
    help: "seconds of the model's time until it is ready",
  }),
  'fail-rate': fraction({ default: 0, zero: true, help: 'share of requests that fail with status 500' }),
  'hang-rate': fraction({ default: 0, zero: true, help: 'share of requests without a response' }),
  'disconnect-rate': fraction({ default: 0, zero: true, help: 'share of requests whose connection is reset midway' }),
  'slow-factor': positive({ default: 1, max: 1_000_000, help: 'how many times as long steps take' }),
};

export type EngineFlags = typeof engineFlags & typeof faultFlags;
