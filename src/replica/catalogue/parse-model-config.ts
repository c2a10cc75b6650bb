import { ConfigFields } from './config-fields.js';
import type { ModelSpec } from './contract.js';
import { parseJsonFile } from './load-json.js';
import { weightBytes } from './weight-bytes.js';

const BYTES_PER_ELEMENT: Record<string, number> = {
  float32: 4,
  float16: 2,
  bfloat16: 2,
  int8: 1,
  uint8: 1,
  fp8: 1,
  int4: 1,
  nf4: 1,
};

/** Scalings whose factor `max_position_embeddings` already contains. */
const ALREADY_INCLUDED = ['su', 'longrope', 'llama3'];

/** What different model families call the number of experts. A value below 2 means dense and the next name is tried. */
const EXPERT_FIELDS = ['num_experts', 'moe_num_experts', 'n_routed_experts', 'num_local_experts', 'num_routed_experts'];

/**
 * Reads the text of a Hugging Face `config.json`. `name` is the model's lower-cased name, `file` is what errors call the
 * text.
 */
export function parseModelConfig(text: string, file: string, name: string): ModelSpec {
  const fields = new ConfigFields(file, parseJsonFile(text, file));
  const heads = fields.count('num_attention_heads');
  const hidden = fields.count('hidden_size');
  if (hidden < heads) throw fields.invalid('hidden_size', `at least num_attention_heads (${heads})`);
  const intermediate = fields.optionalCount('intermediate_size', 'ffn_hidden_size');
  const moeIntermediate = fields.optionalCount('moe_intermediate_size') || intermediate;
  const experts = fields.firstCountFrom(2, EXPERT_FIELDS);
  const expertsPerToken = fields.optionalCount('num_experts_per_tok');
  if (experts > 0 && expertsPerToken > experts) {
    throw fields.invalid('num_experts_per_tok', `at most the number of experts (${experts})`);
  }
  const bytesPerParam = elementBytes(fields);
  return {
    name,
    layers: fields.count('num_hidden_layers'),
    hidden,
    heads,
    kvHeads: fields.optionalCount('num_key_value_heads', 'num_kv_heads', 'multi_query_group_num') || heads,
    headDim: fields.optionalCount('head_dim') || null,
    intermediate,
    vocab: fields.optionalCount('vocab_size'),
    bytesPerParam,
    weightBytesPerParam: weightBytes(fields.nested('quantization_config'), name) ?? bytesPerParam,
    experts,
    expertsPerToken,
    moeIntermediate,
    denseIntermediate: fields.optionalCount('intermediate_size_mlp') || intermediate,
    sharedExpertIntermediate:
      fields.optionalCount('shared_expert_intermediate_size') ||
      fields.optionalCount('n_shared_experts') * moeIntermediate,
    interleave: fields.optionalCount('interleave_moe_layer_step'),
    firstDense: fields.optionalCount('first_k_dense_replace'),
    kvLoraRank: fields.optionalCount('kv_lora_rank'),
    qkRopeHeadDim: fields.optionalCount('qk_rope_head_dim'),
    tiedEmbeddings: fields.flag('tie_word_embeddings'),
    activation: fields.text('hidden_act'),
    maxContext: scaledContext(fields),
  };
}

function elementBytes(fields: ConfigFields): number {
  const field = fields.text('torch_dtype') === '' ? 'dtype' : 'torch_dtype';
  const dtype = fields.text(field);
  const accepted = `one of ${Object.keys(BYTES_PER_ELEMENT).join(', ')}`;
  if (dtype === '') throw fields.missing('torch_dtype', accepted);
  if (!Object.hasOwn(BYTES_PER_ELEMENT, dtype)) throw fields.invalid(field, accepted);
  return BYTES_PER_ELEMENT[dtype]!;
}

/** The longest context of the model, rope scaling applied; 0 when the config does not have it. */
function scaledContext(fields: ConfigFields): number {
  const positions = fields.optionalCount('max_position_embeddings');
  const rope = fields.nested('rope_scaling');
  const factor = rope?.positive('factor') ?? 1;
  const type = rope?.text('type') ?? rope?.text('rope_type') ?? '';
  if (factor <= 1 || ALREADY_INCLUDED.includes(type) || fields.text('model_type').includes('gemma3')) return positions;
  const unscaled = type === 'yarn' ? rope?.positive('original_max_position_embeddings') : undefined;
  return Math.trunc((unscaled ?? positions) * factor);
}
