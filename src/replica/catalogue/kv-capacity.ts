import { badFlagValue, modelDoesNotFit, modelLacks, unsupportedActivation } from '../errors.js';
import type { GpuSpec, ModelSpec } from './contract.js';
import { checkParallelism } from './parallelism-check.js';

export interface CapacityOptions {
  tp: number;
  dp: number;
  blockSize: number;
  gpuMemoryUtilization: number;
}

const GIB = 2 ** 30;
/** Activations of the largest step, by kind of model. */
const DENSE_ACTIVATION_GIB = 5.5;
const MOE_ACTIVATION_GIB = 8;
/** Per GPU: runtime and graphs alone, or with communication buffers. */
const SINGLE_GPU_RUNTIME_GIB = 0.15;
const MULTI_GPU_RUNTIME_GIB = 0.6;
/** Activations whose MLP has the three matrices that the parameter count assumes. */
const GATED_ACTIVATIONS = ['silu', 'swiglu', 'geglu', 'situ'];

/** KV blocks that fit next to the weights: the default of `--total-kv-blocks`. */
export function derivedKvBlocks(
  model: ModelSpec,
  gpu: Pick<GpuSpec, 'name' | 'memoryGiB'>,
  options: CapacityOptions,
): number {
  check(model, options);
  const { tp, dp, blockSize, gpuMemoryUtilization } = options;
  const weights = Math.trunc(parameters(model) * model.weightBytesPerParam) / GIB;
  const activation = model.experts > 0 ? MOE_ACTIVATION_GIB : DENSE_ACTIVATION_GIB;
  const runtime = tp * (tp === 1 ? SINGLE_GPU_RUNTIME_GIB : MULTI_GPU_RUNTIME_GIB);
  const overhead = weights + activation + runtime;
  const budget = gpu.memoryGiB * gpuMemoryUtilization * tp;
  const place = `--hardware ${gpu.name} --tp ${tp}`;
  if (overhead >= budget) {
    const need = `needs ${overhead.toFixed(1)} GiB before any KV cache`;
    throw modelDoesNotFit(place, `${model.name} ${need}, ${budget.toFixed(1)} GiB are usable`);
  }
  const bytesPerBlock = Math.trunc(kvBytesPerToken(model, tp) * blockSize);
  const blocks = Math.trunc(Math.trunc((budget - overhead) * GIB) / bytesPerBlock);
  if (blocks === 0) throw modelDoesNotFit(place, `${model.name} leaves no memory for one KV block`);
  return dp > 1 ? blocks * dp : blocks;
}

/**
 * The longest request of a replica: the given limit, else the model's context, but never more than its KV blocks hold.
 * 0 is no limit.
 */
export function derivedMaxModelLen(
  model: Pick<ModelSpec, 'maxContext'>,
  given: number | undefined,
  blocks: number,
  blockSize: number,
): number {
  if (given !== undefined && (!Number.isSafeInteger(given) || given < 0)) {
    throw badFlagValue('--max-model-len', given, 'a whole number of tokens, 0 for all that the KV cache holds');
  }
  const wanted = given ?? model.maxContext;
  // Without any limit, a request longer than the memory would preempt itself without end.
  return wanted === 0 || Math.ceil(wanted / blockSize) > blocks ? blocks * blockSize : wanted;
}

/** Elements of one head's key or value. */
export function headDimension(model: ModelSpec): number {
  return model.headDim ?? model.hidden / model.heads;
}

/** On each of `tp` GPUs. */
export function kvBytesPerToken(model: ModelSpec, tp: number): number {
  // Latent attention keeps one compressed vector per token, whole on every GPU.
  if (model.kvLoraRank > 0) return model.layers * (model.kvLoraRank + model.qkRopeHeadDim) * model.bytesPerParam;
  return (2 * model.layers * headDimension(model) * model.kvHeads * model.bytesPerParam) / tp;
}

/** By the model's dimensions. */
export function parameters(model: ModelSpec): number {
  const { layers, hidden: d, vocab } = model;
  const attention = d * (d + 2 * model.kvHeads * headDimension(model)) + d * d + 2 * d;
  const output = model.tiedEmbeddings ? 0 : vocab * d;
  return vocab * d + layers * attention + mlpParameters(model) + output + d;
}

function mlpParameters(model: ModelSpec): number {
  const { layers, hidden: d, experts } = model;
  if (experts === 0) return layers * 3 * d * model.intermediate;
  const dense = Math.min(model.firstDense, layers);
  const router = experts * d;
  const sparse = 3 * d * model.moeIntermediate * experts + 3 * d * model.sharedExpertIntermediate + router;
  return dense * 3 * d * model.denseIntermediate + (layers - dense) * sparse;
}

function check(model: ModelSpec, { tp, dp, blockSize, gpuMemoryUtilization }: CapacityOptions): void {
  checkParallelism(model, tp, dp);
  if (!Number.isSafeInteger(blockSize) || blockSize < 1) {
    throw badFlagValue('--block-size-in-tokens', blockSize, 'a whole number of at least 1');
  }
  if (!(gpuMemoryUtilization > 0 && gpuMemoryUtilization <= 1)) {
    throw badFlagValue('--gpu-memory-utilization', gpuMemoryUtilization, 'a fraction above 0, at most 1');
  }
  const hint = 'add it, or give --total-kv-blocks';
  if (model.vocab === 0) throw modelLacks(model.name, 'vocab_size', 'the size of the weights', hint);
  if (model.intermediate === 0) throw modelLacks(model.name, 'intermediate_size', 'the size of the weights', hint);
  if (model.activation !== '' && !GATED_ACTIVATIONS.includes(model.activation)) {
    throw unsupportedActivation(model.name, model.activation, GATED_ACTIVATIONS);
  }
}
