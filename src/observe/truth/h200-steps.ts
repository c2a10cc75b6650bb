import { emptyShape } from '../../replica/latency/batch-shape.js';
import type { BatchShape } from '../../replica/latency/contract.js';
import type { StepSample } from '../fit/steps/step-sample.js';
import { badGpuTime, noStepTime } from './errors.js';
import { readNumberTable } from './number-table.js';

const BLOCK_TOKENS = 16;
/** Times are rounded to whole microseconds. */
const ROUNDING_US = 1;

const STEP_COLUMNS = [
  'start_us',
  'end_us',
  'prefill_tokens',
  'prefill_seqs',
  'prefill_attention_pairs',
  'decode_seqs',
  'decode_context_tokens',
  'kv_blocks_used',
] as const;

/** Without it all contexts of a step are taken as equal. */
export const LONGEST_CONTEXT = 'decode_context_max';

const TABLE_COLUMNS = [
  'decode_seqs',
  'decode_context',
  'prefill_seqs',
  'prefill_tokens_each',
  'prefill_context',
  'samples',
  'wall_us_median',
] as const;

/**
 * The steps of a run, in order: each from its start to the start of the next one, unless no request was left. The time
 * without the GPU, where the file has it, is the host's.
 */
export function readH200Steps(path: string): StepSample[] {
  const { count, columns } = readNumberTable(path, STEP_COLUMNS, ['gpu_us', LONGEST_CONTEXT]);
  const start = columns.start_us;
  const sizes = new Set<number>();
  const goesOn = (i: number) => i + 1 < count && columns.decode_seqs[i + 1]! > 0;
  const restBefore = (i: number) => {
    if (i === 0) return Number.POSITIVE_INFINITY;
    return goesOn(i - 1) ? 0 : Math.max(0, start[i]! - columns.end_us[i - 1]!);
  };
  return Array.from({ length: count }, (_, i): StepSample => {
    const decodes = columns.decode_seqs[i]!;
    const shape = emptyShape();
    shape.decodes = decodes;
    // The recorded contexts have the new token in them already.
    shape.decodeContext = columns.decode_context_tokens[i]! - decodes;
    shape.decodeLongest =
      columns.decode_context_max === undefined
        ? shape.decodeContext / Math.max(1, decodes)
        : Math.max(0, columns.decode_context_max[i]! - 1);
    shape.heldTokens = columns.kv_blocks_used[i]! * BLOCK_TOKENS;
    shape.prefills = columns.prefill_seqs[i]!;
    shape.prefillTokens = columns.prefill_tokens[i]!;
    shape.prefillPairs = columns.prefill_attention_pairs[i]!;
    shape.prefillLongest = longestPrefill(shape);
    shape.scheduled = decodes + shape.prefills;
    const tokens = decodes + shape.prefillTokens;
    const firstOfSize = shape.prefills > 0 && !sizes.has(tokens);
    if (firstOfSize) sizes.add(tokens);
    const us = (goesOn(i) ? start[i + 1]! : columns.end_us[i]!) - start[i]!;
    const gpuUs = columns.gpu_us?.[i];
    checkTimes(us, gpuUs, `${path}:${i + 2}`, ['end_us', 'gpu_us']);
    const host = gpuUs === undefined ? {} : { hostUs: Math.max(0, us - gpuUs) };
    return { shape, us, ...host, restUs: restBefore(i), count: 1, inService: true, firstOfSize };
  });
}

/**
 * The table of single steps, timed without the engine: on the GPU, where the table says so. All contexts of a row are
 * equal.
 */
export function readH200StepTable(path: string): StepSample[] {
  const { count, columns } = readNumberTable(path, TABLE_COLUMNS, ['gpu_us_median']);
  return Array.from({ length: count }, (_, i): StepSample => {
    const decodes = columns.decode_seqs[i]!;
    const prefills = columns.prefill_seqs[i]!;
    const tokens = columns.prefill_tokens_each[i]!;
    const context = columns.prefill_context[i]!;
    const shape = emptyShape();
    shape.decodes = decodes;
    shape.decodeContext = decodes * columns.decode_context[i]!;
    shape.decodeLongest = decodes === 0 ? 0 : columns.decode_context[i]!;
    shape.heldTokens = shape.decodeContext + prefills * (context + tokens);
    shape.prefills = prefills;
    shape.prefillTokens = prefills * tokens;
    shape.prefillPairs = prefills * tokens * (context + (tokens + 1) / 2);
    shape.prefillLongest = prefills === 0 ? 0 : context + tokens;
    shape.scheduled = decodes + prefills;
    const us = columns.wall_us_median[i]!;
    const gpuUs = columns.gpu_us_median?.[i];
    checkTimes(us, gpuUs, `${path}:${i + 2}`, ['wall_us_median', 'gpu_us_median']);
    return { shape, us: gpuUs ?? us, count: columns.samples[i]!, inService: false, firstOfSize: false };
  });
}

/** Exact for one prompt. Of several only the pairs of tokens are known: as if one of them had nearly all. */
function longestPrefill({ prefills, prefillTokens: tokens, prefillPairs: pairs }: BatchShape): number {
  if (prefills === 0) return 0;
  return prefills === 1 ? pairs / tokens + (tokens - 1) / 2 : 0.9 * Math.sqrt(2 * pairs);
}

/** Refuses times that cannot be; the names are those of the columns that they come from. */
function checkTimes(us: number, gpuUs: number | undefined, line: string, [whole, part]: [string, string]): void {
  if (us <= 0) throw noStepTime(`${line} (${whole})`, us);
  if (gpuUs !== undefined && (gpuUs <= 0 || gpuUs > us + ROUNDING_US)) throw badGpuTime(`${line} (${part})`, gpuUs, us);
}
