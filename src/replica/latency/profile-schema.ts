import { above, any, choice, field, flag, list, number, required, section, text, whole } from '../../schema/fields.js';
import { ENGINE_RULES } from '../engine-rules.js';

/** A cost beyond this is a mistake in the file: more than a quarter of an hour. */
const MOST_US = 1e9;
const MOST = 2 ** 31 - 1;

const us = number(0, MOST_US);
const curve = list(
  section('point', {
    tokens: required(whole(1, MOST), { help: 'tokens of a step' }),
    us: required(us, { help: 'its time' }),
  }),
);

const cost = (help: string) => required(us, { help });

const STEP = {
  decode_only: required(curve, { help: 'times of decode-only steps, by tokens' }),
  with_prefill: required(curve, { help: 'times of steps with prompts, by tokens' }),
  decode_context_us: cost('per token of context, in decode-only steps'),
  mixed_context_us: cost('per token of context of decoding requests, in steps with prompts'),
  shared_context: required(number(0, 1), { help: 'what a token of context in a shared block costs of that' }),
  uneven_context_us: cost('per token by which the longest context exceeds the mean, times the root of how many decode'),
  mixed_uneven_context_us: cost('the same next to prompts, for any number of them'),
  mixed_decode_us: cost('per request that decodes next to prompts'),
  prefill_pair_us: cost('attention of prompts, per pair of tokens'),
  prefill_longest_us: cost('the same per token of the longest; the larger of the two counts'),
  prefill_request_us: cost('per request that works on its prompt'),
  request_us: cost('per request of the step'),
  crowd_us: field(us, { help: 'per pair of requests of the step' }),
  launch: field(
    section('launch', {
      above_tokens: required(whole(0, MOST), { help: 'steps of prompts above this many tokens' }),
      us: required(us, { help: 'microseconds the host takes to launch them' }),
      first_us: field(us, { help: 'more for the first of its size on a fresh engine' }),
    }),
    { help: 'the least time of large steps' },
  ),
  host: field(
    section('host', {
      step_us: cost('per step'),
      prompt_us: cost('per request that works on its prompt'),
      prompt_token_us: cost('per token of prompts'),
    }),
    { help: "the host's other time for each request, while the GPU is idle" },
  ),
  slowdown: field(
    section('slowdown', {
      share: required(number(0, 1), { help: 'how much longer everything takes the GPU at full load' }),
      token_us: required(above(0, MOST_US), { help: 'time of a token at full load' }),
      over_us: required(number(1, MOST_US), { help: 'how long load takes to show' }),
    }),
    { help: 'how the GPU slows down as it computes' },
  ),
};

const wholeUs = required(whole(0, MOST_US), { help: 'whole microseconds' });

const REQUEST = { queueing_us: wholeUs, output_token_us: wholeUs, post_decode_us: wholeUs };

const SCHEDULER = {
  engine_rules: field(choice(ENGINE_RULES.map(({ name }) => name)), { help: '--engine-rules' }),
  block_size: field(whole(1, 65_536), { help: '--block-size-in-tokens' }),
  total_kv_blocks: field(whole(1, MOST), { help: '--total-kv-blocks' }),
  max_model_len: field(whole(0, MOST), { help: '--max-model-len' }),
  max_num_seqs: field(whole(1, MOST), { help: '--max-num-seqs' }),
  max_num_batched_tokens: field(whole(1, MOST), { help: '--max-num-batched-tokens' }),
  long_prefill_token_threshold: field(whole(0, MOST), { help: '--long-prefill-token-threshold' }),
};

const size = (help: string) => required(whole(0, MOST), { help });
const bytes = (help: string) => required(number(0, 64), { help });

const MODEL = {
  layers: required(whole(1, MOST), { help: 'layers' }),
  hidden: required(whole(1, MOST), { help: 'hidden size' }),
  heads: required(whole(1, MOST), { help: 'query heads' }),
  kv_heads: required(whole(1, MOST), { help: 'KV heads' }),
  head_dim: field(whole(1, MOST), { help: 'elements of a head, where they do not follow from the hidden size' }),
  intermediate: size('MLP size'),
  vocab: size('vocabulary'),
  bytes_per_param: bytes('bytes of an activation or KV element'),
  weight_bytes_per_param: bytes('bytes of a weight'),
  experts: size('experts; 0 for a dense model'),
  experts_per_token: size('experts of a token'),
  moe_intermediate: size('MLP size of an expert'),
  dense_intermediate: size('MLP size of dense layers'),
  shared_expert_intermediate: size('MLP size of shared experts'),
  interleave: size('dense layers between two with experts'),
  first_dense: size('dense layers at the beginning'),
  kv_lora_rank: size('rank of compressed KV; 0 for none'),
  qk_rope_head_dim: size('rotary elements next to it'),
  tied_embeddings: required(flag, { help: 'input and output embeddings are the same' }),
  activation: field(text(), { help: 'activation function' }),
  max_context: size('longest context; 0 for unknown'),
};

const DIMENSIONS = {
  model: field(section('model', MODEL), { help: 'of the model' }),
  gpu: field(section('gpu', { memory_gib: required(above(0), { help: 'memory' }) }), { help: 'of the GPU' }),
};

/** The file of a profile. `fit` holds the report of its fit; nothing depends on it. */
export const PROFILE_SCHEMA = section('profile', {
  version: required(whole(1, 1), { help: 'of the format' }),
  name: required(text(), { help: 'for people' }),
  model: required(text(), { help: 'the model that was measured' }),
  hardware: required(text(), { help: 'on which GPU' }),
  tp: required(whole(1, 1024), { help: 'split over how many' }),
  step: required(section('step', STEP), { help: 'what a step costs' }),
  request: required(section('request', REQUEST), { help: 'what a request costs' }),
  scheduler: field(section('scheduler', SCHEDULER), { help: 'settings of the engine' }),
  dimensions: field(section('dimensions', DIMENSIONS), { help: 'what the size of the KV cache follows from' }),
  uncertainty: field(
    section('uncertainty', {
      step: field(number(0, 1), { help: 'of all of a step' }),
      host: field(number(0, 1), { help: "of the host's work, which differs from run to run" }),
    }),
    { help: 'how far step times may be off, as shares' },
  ),
  fit: field(any, { help: 'report of the fit' }),
});
