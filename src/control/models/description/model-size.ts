import type { ModelSpec } from '../../../replica/catalogue/contract.js';

/**
 * The sizes from which `derivedKvBlocks` of the replica's catalogue makes its blocks, by the same rules; its tests hold the two
 * together.
 */

export function headDimension({ headDim, heads, hidden }: ModelSpec): number {
  return headDim ?? hidden / heads;
}

/** On one GPU; of models with latent attention one compressed vector. */
export function kvBytesPerToken(model: ModelSpec): number {
  const { bytesPerParam, kvHeads, kvLoraRank, layers, qkRopeHeadDim } = model;
  if (kvLoraRank > 0) return layers * (kvLoraRank + qkRopeHeadDim) * bytesPerParam;
  return 2 * layers * headDimension(model) * kvHeads * bytesPerParam;
}

/** null when the config leaves out a dimension that it takes. */
export function estimatedParameters(model: ModelSpec): number | null {
  const { experts, hidden: d, intermediate, kvHeads, layers, tiedEmbeddings, vocab } = model;
  if (vocab === 0 || intermediate === 0) return null;
  const attention = d * (d + 2 * kvHeads * headDimension(model)) + d * d + 2 * d;
  const embeddings = vocab * d * (tiedEmbeddings ? 1 : 2);
  const mlp = experts === 0 ? layers * 3 * d * intermediate : expertParameters(model);
  return embeddings + layers * attention + mlp + d;
}

function expertParameters(model: ModelSpec): number {
  const { experts, hidden: d, layers, moeIntermediate, sharedExpertIntermediate } = model;
  const dense = Math.min(model.firstDense, layers);
  const sparse = 3 * d * (moeIntermediate * experts + sharedExpertIntermediate) + experts * d;
  return dense * 3 * d * model.denseIntermediate + (layers - dense) * sparse;
}
