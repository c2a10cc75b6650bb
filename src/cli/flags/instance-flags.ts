import { count, file, fraction, listFlag, MAX_INT32, microseconds, registered, stringFlag } from './kinds.js';
import { readCoefficients } from './read-list.js';
import {
  engineRuleNames,
  gpuNames,
  latencyModelNames,
  modelNames,
  moeCommBackendNames,
  preemptionPolicyNames,
  schedulerNames,
} from './registered-names.js';

/** One replica: the model, its GPUs, its memory and its scheduler. */
export const instanceFlags = {
  model: stringFlag({
    default: null,
    placeholder: 'name',
    suggestions: modelNames,
    help: 'the model served, as org/name (required)',
  }),
  hardware: stringFlag({
    default: null,
    placeholder: 'gpu',
    defaultText: "the model's",
    suggestions: gpuNames,
    help: 'GPU type',
  }),
  tp: count({ default: null, min: 1, max: 1024, defaultText: "the model's", help: 'GPUs a model is split over' }),
  dp: count({ default: 1, min: 1, max: 1024, help: 'data-parallel ranks of a mixture of experts' }),
  'moe-comm-backend': registered({
    default: 'allgather_reducescatter',
    names: moeCommBackendNames,
    help: 'how experts exchange tokens with --dp above 1',
  }),
  'latency-model': registered({
    default: 'physics',
    names: latencyModelNames,
    help: 'how long a step takes',
  }),
  'latency-profile': file({ help: 'measured step times and settings of an engine, as calibrate --fit writes them' }),
  'queueing-latency': microseconds({
    default: null,
    max: 1e9,
    defaultText: "the latency model's",
    help: 'time from arrival at a replica to its queue: HTTP server, tokeniser',
  }),
  'alpha-coeffs': listFlag<number[] | null>({
    default: null,
    accepted: '3 numbers with commas between them',
    read: (given, place) => readCoefficients(given, place, 3, 3),
    help: "per-request overheads in us, instead of the model's own",
  }),
  'beta-coeffs': listFlag<number[] | null>({
    default: null,
    accepted: '7 to 11 numbers with commas between them',
    read: (given, place) => readCoefficients(given, place, 7, 11),
    help: "weights of a step's parts, instead of the model's own",
  }),
  'total-kv-blocks': count({
    default: null,
    min: 1,
    max: MAX_INT32,
    defaultText: 'what fits',
    help: 'KV blocks of a replica',
  }),
  'gpu-memory-utilization': fraction({ default: 0.9, help: 'share of GPU memory that may be used' }),
  'max-model-len': count({
    default: null,
    max: MAX_INT32,
    defaultText: "the model's",
    help: 'longest request in tokens; 0: all that the KV cache holds',
  }),
  'block-size-in-tokens': count({ default: 16, min: 1, max: 65_536, help: 'tokens of a KV block' }),
  'max-num-seqs': count({
    default: 256,
    min: 1,
    max: MAX_INT32,
    aliases: ['max-num-running-reqs'],
    help: 'requests in a batch',
  }),
  'max-num-batched-tokens': count({
    default: 2048,
    min: 1,
    max: MAX_INT32,
    aliases: ['max-num-scheduled-tokens'],
    help: 'tokens in a step',
  }),
  'long-prefill-token-threshold': count({ default: 0, max: MAX_INT32, help: 'longest prefill chunk; 0: no limit' }),
  scheduler: registered({ default: 'fcfs', names: schedulerNames, help: 'order of the wait queue' }),
  'preemption-policy': registered({
    default: 'fcfs',
    names: preemptionPolicyNames,
    help: 'which request is preempted when KV blocks run out',
  }),
  'engine-rules': registered({
    default: 'classic',
    defaultText: "the latency model's",
    names: engineRuleNames,
    help: 'what the engine does with cached prompts, preempted requests and its next step',
  }),
  'model-config-folder': file({ placeholder: 'folder', help: "folder with the model's config.json" }),
  'hardware-config': file({ help: 'JSON file that describes further GPUs' }),
};

export type InstanceFlags = typeof instanceFlags;
