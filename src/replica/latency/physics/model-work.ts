import { type GpuSpec, type ModelSpec, moeLayers } from '../../catalogue/contract.js';
import { headDimension, kvBytesPerToken } from '../../catalogue/kv-capacity.js';
import { peakTflops } from '../compute-rate.js';
import type { Parallelism } from '../contract.js';
import { moeCommBackend } from '../moe-comm.js';

/** What a step of a model asks of one GPU, as times at the rates of its data sheet, in microseconds. */
export interface ModelWork {
  layers: number;
  /** The model is split over several GPUs. */
  split: boolean;
  /** Reading the weights once, by the tokens of the step: few tokens do not reach every expert. */
  weightsUs(tokens: number): number;
  /** The matrices of one token. */
  tokenUs: number;
  /** Reading one token of context. */
  contextUs: number;
  /** Attention of one pair of tokens of a prompt. */
  pairUs: number;
  /** Bytes that one token sends to other GPUs. */
  tokenBytesSent: number;
}

/** Attention and MLP of a layer each end with one sum over the GPUs of a split model. */
const SUMS_PER_LAYER = 2;
const MATRICES = 3;
const ACTIVATION_BYTES = 2;

/** Data-parallel ranks share the tokens of a step and the experts; each holds all other weights. */
export function modelWork(model: ModelSpec, gpu: GpuSpec, { tp, dp, moeCommBackend: backend }: Parallelism): ModelWork {
  const { layers, hidden, heads, kvHeads, experts, expertsPerToken } = model;
  const headDim = headDimension(model);
  const bytesPerUs = gpu.bandwidthTBs * 1e6;
  const flopsPerUs = peakTflops(model, gpu) * 1e6;
  const sparse = Math.max(0, moeLayers(model) - model.firstDense);
  const attention = layers * hidden * headDim * (2 * heads + 2 * kvHeads);
  const mlp = (layers - sparse) * MATRICES * hidden * (experts > 0 ? model.denseIntermediate : model.intermediate);
  const shared = sparse * MATRICES * hidden * model.sharedExpertIntermediate;
  const expert = sparse * MATRICES * hidden * model.moeIntermediate;
  const always = attention + mlp + shared + model.vocab * hidden;
  const missed = experts === 0 ? 1 : 1 - expertsPerToken / experts;
  const ranks = tp * dp;
  const summed = tp === 1 ? 0 : (SUMS_PER_LAYER * layers * 2 * (tp - 1)) / tp;
  const copies = moeCommBackend(backend).allToAll ? expertsPerToken : 1;
  const dispatched = dp === 1 ? 0 : (2 * sparse * copies * (ranks - 1)) / ranks;
  return {
    layers,
    split: ranks > 1,
    weightsUs: (tokens) => {
      const reached = experts * (1 - missed ** tokens);
      return ((always / tp + (reached * expert) / ranks) * model.weightBytesPerParam) / bytesPerUs;
    },
    tokenUs: (2 * (attention + mlp + shared + expertsPerToken * expert)) / (ranks * flopsPerUs),
    contextUs: kvBytesPerToken(model, tp) / (dp * bytesPerUs),
    pairUs: (4 * layers * heads * headDim) / (ranks * gpu.tflops * 1e6),
    tokenBytesSent: ((summed + dispatched) * hidden * ACTIVATION_BYTES) / dp,
  };
}
