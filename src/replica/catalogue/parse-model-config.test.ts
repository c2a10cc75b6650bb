import { describe, expect, it } from 'vitest';
import { moeLayers } from './contract.js';
import { parseModelConfig } from './parse-model-config.js';

const least = { num_hidden_layers: 4, hidden_size: 64, num_attention_heads: 8, torch_dtype: 'bfloat16' };
const parse = (change: object, name = 'org/model') =>
  parseModelConfig(JSON.stringify({ ...least, ...change }), 'm/config.json', name);

describe('parseModelConfig', () => {
  it('fills in what a plain dense config leaves out', () => {
    expect(parse({})).toEqual({
      name: 'org/model',
      layers: 4,
      hidden: 64,
      heads: 8,
      kvHeads: 8,
      headDim: null,
      intermediate: 0,
      vocab: 0,
      bytesPerParam: 2,
      weightBytesPerParam: 2,
      experts: 0,
      expertsPerToken: 0,
      moeIntermediate: 0,
      denseIntermediate: 0,
      sharedExpertIntermediate: 0,
      interleave: 0,
      firstDense: 0,
      kvLoraRank: 0,
      qkRopeHeadDim: 0,
      tiedEmbeddings: false,
      activation: '',
      maxContext: 0,
    });
  });

  it.each([
    [{ num_key_value_heads: 2, num_kv_heads: 4 }, 2],
    [{ num_kv_heads: 4, multi_query_group_num: 1 }, 4],
    [{ multi_query_group_num: 1 }, 1],
    [{ num_key_value_heads: null, num_kv_heads: 4 }, 4],
  ])('KV heads of %j', (change, kvHeads) => {
    expect(parse(change).kvHeads).toBe(kvHeads);
  });

  it('takes the MLP size from either name', () => {
    expect(parse({ ffn_hidden_size: 128 }).intermediate).toBe(128);
    expect(parse({ intermediate_size: 256, ffn_hidden_size: 128 }).intermediate).toBe(256);
  });

  it.each([
    ['float32', 4],
    ['float16', 2],
    ['bfloat16', 2],
    ['int8', 1],
    ['uint8', 1],
    ['fp8', 1],
    ['int4', 1],
    ['nf4', 1],
  ])('%s takes %i bytes', (dtype, bytes) => {
    expect(parse({ torch_dtype: dtype }).bytesPerParam).toBe(bytes);
    expect(parse({ torch_dtype: undefined, dtype }).bytesPerParam).toBe(bytes);
  });

  it.each(['num_experts', 'moe_num_experts', 'n_routed_experts', 'num_local_experts', 'num_routed_experts'])(
    'reads the experts from %s',
    (field) => {
      expect(parse({ [field]: 16 }).experts).toBe(16);
      expect(parse({ [field]: 1 }).experts).toBe(0);
    },
  );

  it('tries the next name for experts below 2', () => {
    expect(parse({ num_experts: 1, num_local_experts: 8, num_routed_experts: 32 }).experts).toBe(8);
  });

  it('reads the sizes of experts, dense layers and shared experts', () => {
    const moe = { num_experts: 8, intermediate_size: 100 };
    expect(parse(moe)).toMatchObject({ moeIntermediate: 100, denseIntermediate: 100, sharedExpertIntermediate: 0 });
    const sizes = { ...moe, moe_intermediate_size: 30, intermediate_size_mlp: 200, n_shared_experts: 2 };
    expect(parse(sizes)).toMatchObject({ moeIntermediate: 30, denseIntermediate: 200, sharedExpertIntermediate: 60 });
    expect(parse({ ...moe, n_shared_experts: 2 }).sharedExpertIntermediate).toBe(200);
    expect(parse({ ...sizes, shared_expert_intermediate_size: 77 }).sharedExpertIntermediate).toBe(77);
  });

  it('counts expert layers', () => {
    expect(moeLayers(parse({}))).toBe(0);
    expect(moeLayers(parse({ num_experts: 8 }))).toBe(4);
    expect(moeLayers(parse({ num_experts: 8, interleave_moe_layer_step: 1 }))).toBe(2);
    expect(moeLayers(parse({ num_experts: 8, interleave_moe_layer_step: 2 }))).toBe(1);
  });

  it('lets text_config win over the top level', () => {
    const spec = parse({ text_config: { hidden_size: 128, num_attention_heads: 4, torch_dtype: 'float32' } });
    expect(spec).toMatchObject({ hidden: 128, heads: 4, layers: 4, bytesPerParam: 4 });
  });
});

describe('bytes per weight', () => {
  const groups = (...bits: number[]) =>
    Object.fromEntries(bits.map((num_bits, i) => [`group_${bits.length - 1 - i}`, { weights: { num_bits } }]));

  it.each([
    ['bits come first', { bits: 4, quant_method: 'fp8' }, 'm-w8a8', 0.5],
    ['then the fp8 method', { quant_method: 'fp8' }, 'm-w4a16', 1],
    ['then the first group by name', { quant_method: 'compressed-tensors', config_groups: groups(8, 4) }, 'm', 0.5],
    ['groups of other methods do not count', { quant_method: 'gptq', config_groups: groups(4) }, 'm', 2],
    ['no group: the name', { quant_method: 'compressed-tensors', config_groups: {} }, 'm-w4a16', 0.5],
    ['no groups at all: the name', { quant_method: 'compressed-tensors' }, 'm-fp8', 1],
    ['unknown method: the name', { quant_method: 'awq' }, 'org/m.w4a16', 0.5],
    ['name with bits', undefined, 'org/m-quantized.w8a8', 1],
    ['bits in the name before fp8', undefined, 'org/m-fp8-w4a16', 0.5],
    ['name with fp8', undefined, 'org/m-FP8-dynamic', 1],
    ['fp8 inside a longer word is none', undefined, 'org/mfp8x', 2],
    ['bits inside a longer word are none', undefined, 'org/m-xw4a16', 2],
    ['neither', undefined, 'org/m', 2],
  ])('%s', (_, quantization_config, name, bytes) => {
    expect(parse({ quantization_config }, name).weightBytesPerParam).toBe(bytes);
  });
});

describe('longest context', () => {
  const context = (rope_scaling: object | null, more: object = {}) =>
    parse({ max_position_embeddings: 1000, rope_scaling, ...more }).maxContext;

  it('is scaled by the factor', () => {
    expect(context({ type: 'linear', factor: 2.5 })).toBe(2500);
    expect(context({ rope_type: 'dynamic', factor: 4 })).toBe(4000);
    expect(context({ factor: 4 })).toBe(4000);
  });

  it('starts from the original length with yarn, when there is one', () => {
    expect(context({ type: 'yarn', factor: 40, original_max_position_embeddings: 100 })).toBe(4000);
    expect(context({ rope_type: 'yarn', factor: 4 })).toBe(4000);
    expect(context({ type: 'linear', factor: 4, original_max_position_embeddings: 100 })).toBe(4000);
  });

  it.each(['su', 'longrope', 'llama3'])('already contains the factor with %s', (type) => {
    expect(context({ type, factor: 8 })).toBe(1000);
    expect(context({ rope_type: type, factor: 8 })).toBe(1000);
  });

  it('is not scaled without a factor above 1, without scaling, or for gemma3', () => {
    expect(context({ type: 'linear', factor: 1 })).toBe(1000);
    expect(context({ type: 'linear' })).toBe(1000);
    expect(context(null)).toBe(1000);
    expect(context({ type: 'linear', factor: 8 }, { model_type: 'gemma3_text' })).toBe(1000);
  });
});

describe('bad configs', () => {
  it.each([
    ['MISSING_FIELD', 'num_hidden_layers', { num_hidden_layers: undefined }],
    ['MISSING_FIELD', 'hidden_size', { hidden_size: null }],
    ['MISSING_FIELD', 'num_attention_heads', { num_attention_heads: undefined }],
    ['MISSING_FIELD', 'torch_dtype', { torch_dtype: undefined }],
    ['INVALID_FIELD', 'num_hidden_layers', { num_hidden_layers: 0 }],
    ['INVALID_FIELD', 'hidden_size', { hidden_size: '64' }],
    ['INVALID_FIELD', 'hidden_size', { hidden_size: 7 }],
    ['INVALID_FIELD', 'num_attention_heads', { num_attention_heads: -8 }],
    ['INVALID_FIELD', 'vocab_size', { vocab_size: 1.5 }],
    ['INVALID_FIELD', 'torch_dtype', { torch_dtype: 'bf16' }],
    ['INVALID_FIELD', 'dtype', { torch_dtype: undefined, dtype: 'toString' }],
    ['INVALID_FIELD', 'torch_dtype', { torch_dtype: 16 }],
    ['INVALID_FIELD', 'num_experts_per_tok', { num_experts: 8, num_experts_per_tok: 9 }],
    ['INVALID_FIELD', 'tie_word_embeddings', { tie_word_embeddings: 'no' }],
    ['INVALID_FIELD', 'hidden_act', { hidden_act: 3 }],
    ['INVALID_FIELD', 'text_config', { text_config: [] }],
    ['INVALID_FIELD', 'text_config.hidden_size', { text_config: { hidden_size: true } }],
    ['INVALID_FIELD', 'rope_scaling', { rope_scaling: 'yarn' }],
    ['INVALID_FIELD', 'rope_scaling.factor', { rope_scaling: { factor: '4' } }],
    ['INVALID_FIELD', 'rope_scaling.type', { rope_scaling: { type: 4 } }],
    ['INVALID_FIELD', 'quantization_config', { quantization_config: 8 }],
    ['INVALID_FIELD', 'quantization_config.bits', { quantization_config: { bits: 0 } }],
    [
      'INVALID_FIELD',
      'quantization_config.config_groups',
      { quantization_config: { quant_method: 'compressed-tensors', config_groups: 1 } },
    ],
  ])('%s %s (%#)', (code, field, change) => {
    expect(() => parse(change)).toThrow(
      expect.objectContaining({ name: 'InputError', code, place: `m/config.json (${field})` }),
    );
  });

  it('names line and column of malformed JSON', () => {
    const text = '{\n  "hidden_size": 64,\n  "num_hidden_layers" 4\n}';
    expect(() => parseModelConfig(text, 'm/config.json', 'm')).toThrow(
      expect.objectContaining({ code: 'MALFORMED_JSON', place: 'm/config.json:3:23', problem: "':' expected" }),
    );
  });
});
