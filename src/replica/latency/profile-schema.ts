import { above, type Keys, type Kind, number, text, whole } from '../../kernel/yaml/schema.js';
import { ENGINE_RULES } from '../engine-rules.js';

/** A cost beyond this is a mistake in the file: more than a quarter of an hour. */
const MOST_US = 1e9;
const MOST = 2 ** 31 - 1;

const us = number(0, MOST_US);
const curve: Kind = {
  type: 'list',
  of: {
    type: 'keys',
    title: 'point',
    keys: {
      tokens: { kind: whole(1, MOST), needed: true, help: 'tokens of a step' },
      us: { kind: us, needed: true, help: 'its time' },
    },
  },
};

const cost = (help: string) => ({ kind: us, needed: true, help });

const STEP: Keys = {
  decode_only: { kind: curve, needed: true, help: 'times of steps in which everybody decodes, by tokens' },
  with_prefill: { kind: curve, needed: true, help: 'times of steps with prompts, by tokens' },
  decode_context_us: cost('per token of context, when everybody decodes'),
  mixed_context_us: cost('per token of context of those who decode beside prompts'),
  shared_context: { kind: number(0, 1), needed: true, help: 'what a token of context in a shared block costs of that' },
  uneven_context_us: cost('per token by which the longest context exceeds the mean, times the root of how many decode'),
  mixed_uneven_context_us: cost('the same beside prompts, whatever their number'),
  mixed_decode_us: cost('per request that decodes beside prompts'),
  prefill_pair_us: cost('attention of prompts, per pair of tokens'),
  prefill_longest_us: cost('the same per token of the longest; the larger of the two counts'),
  prefill_request_us: cost('per request that works on its prompt'),
  request_us: cost('per request of the step'),
  launch: {
    kind: {
      type: 'keys',
      title: 'launch',
      keys: {
        above_tokens: { kind: whole(0, MOST), needed: true, help: 'steps of prompts above so many tokens' },
        us: { kind: us, needed: true, help: 'take the host so long to launch' },
        first_us: { kind: us, help: 'more for the first of its size on a fresh engine' },
      },
    },
    help: 'the least time of large steps',
  },
  host: {
    kind: {
      type: 'keys',
      title: 'host',
      keys: {
        step_us: cost('per step'),
        prompt_us: cost('per request that works on its prompt'),
        prompt_token_us: cost('per token of prompts'),
      },
    },
    help: 'what the host does beside that for each request, while the GPU has nothing to do',
  },
  slowdown: {
    kind: {
      type: 'keys',
      title: 'slowdown',
      keys: {
        share: { kind: number(0, 1), needed: true, help: 'how much longer everything takes the GPU at full load' },
        token_us: { kind: above(0, MOST_US), needed: true, help: 'time of a token at full load' },
        over_us: { kind: number(1, MOST_US), needed: true, help: 'how long load takes to show' },
      },
    },
    help: 'how the GPU slows down as it computes',
  },
};

const wholeUs = { kind: whole(0, MOST_US), needed: true, help: 'whole microseconds' };

const REQUEST: Keys = { queueing_us: wholeUs, output_token_us: wholeUs, post_decode_us: wholeUs };

const SCHEDULER: Keys = {
  engine_rules: { kind: text(ENGINE_RULES.map(({ name }) => name)), help: '--engine-rules' },
  block_size: { kind: whole(1, 65_536), help: '--block-size-in-tokens' },
  total_kv_blocks: { kind: whole(1, MOST), help: '--total-kv-blocks' },
  max_model_len: { kind: whole(0, MOST), help: '--max-model-len' },
  max_num_seqs: { kind: whole(1, MOST), help: '--max-num-seqs' },
  max_num_batched_tokens: { kind: whole(1, MOST), help: '--max-num-batched-tokens' },
  long_prefill_token_threshold: { kind: whole(0, MOST), help: '--long-prefill-token-threshold' },
};

/** The file of a profile. What stands under `fit` says how it came about; nothing depends on it. */
export const PROFILE_KIND: Kind = {
  type: 'keys',
  title: 'profile',
  keys: {
    version: { kind: whole(1, 1), needed: true, help: 'of the format' },
    name: { kind: text(), needed: true, help: 'for people' },
    model: { kind: text(), needed: true, help: 'the model that was measured' },
    hardware: { kind: text(), needed: true, help: 'on which GPU' },
    tp: { kind: whole(1, 1024), needed: true, help: 'split over how many' },
    step: { kind: { type: 'keys', title: 'step', keys: STEP }, needed: true, help: 'what a step costs' },
    request: { kind: { type: 'keys', title: 'request', keys: REQUEST }, needed: true, help: 'what a request costs' },
    scheduler: { kind: { type: 'keys', title: 'scheduler', keys: SCHEDULER }, help: 'settings of the engine' },
    fit: { kind: { type: 'any' }, help: 'how the profile came about' },
  },
};
