/** A model's dimensions, read from a Hugging Face `config.json` (spec section 4.1). */
export interface ModelSpec {
  /** Lower-cased name as given: `qwen/qwen3-14b`. */
  name: string;
  layers: number;
  hidden: number;
  heads: number;
  kvHeads: number;
  /** `head_dim` of the config, or null: capacity uses it, step times do not. */
  headDim: number | null;
  /** intermediate_size | ffn_hidden_size; 0 when absent. */
  intermediate: number;
  vocab: number;
  /** Bytes per activation and KV element. */
  bytesPerParam: number;
  /** Bytes per weight (quantised models have fewer). */
  weightBytesPerParam: number;
  /** 0 for a dense model. */
  experts: number;
  expertsPerToken: number;
  moeIntermediate: number;
  denseIntermediate: number;
  sharedExpertIntermediate: number;
  /** interleave_moe_layer_step; 0 for none. */
  interleave: number;
  /** first_k_dense_replace. */
  firstDense: number;
  /** MLA: kv_lora_rank and qk_rope_head_dim; 0 when the model has none. */
  kvLoraRank: number;
  qkRopeHeadDim: number;
  tiedEmbeddings: boolean;
  activation: string;
  /** Longest context after rope scaling; 0 when the config does not have it. */
  maxContext: number;
}

/** A GPU's data-sheet row (spec section 4.1). */
export interface GpuSpec {
  name: string;
  tflops: number;
  /** 0 when the GPU has no FP8 rate. */
  tflopsFp8: number;
  bandwidthTBs: number;
  mfuPrefill: number;
  mfuDecode: number;
  memoryGiB: number;
}

/** Layers that are mixture-of-experts: 0 when dense, all when uniform, every (interleave + 1)-th when interleaved. */
export function moeLayers(model: ModelSpec): number {
  if (model.experts === 0) return 0;
  return model.interleave > 0 ? Math.trunc(model.layers / (model.interleave + 1)) : model.layers;
}
