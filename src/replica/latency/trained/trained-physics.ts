import { moeLayers } from '../../catalogue/contract.js';
import { checkKvHeads, checkParallelism } from '../../catalogue/parallelism-check.js';
import { modelLacks } from '../../errors.js';
import { peakTflops } from '../compute-rate.js';
import type { BatchShape, LatencyModel, LatencyModelKind, LatencySetup } from '../contract.js';
import { moeCommBackend } from '../moe-comm.js';
import { stepDurationUs, wholeUs } from '../whole-us.js';
import { coefficients, type StepWeights } from './coefficients.js';

/** Two bytes per KV element, for any type of the model. */
const KV_BYTES = 2;

export const trainedPhysics: LatencyModelKind = {
  name: 'trained-physics',
  summary: 'Work and traffic of a step from first principles, weighted by coefficients fitted to measured steps.',
  create(setup, warn) {
    const { model, gpu, parallelism } = setup;
    checkParallelism(model, parallelism.tp, parallelism.dp);
    checkKvHeads(model, parallelism.tp);
    if (model.intermediate === 0) {
      throw modelLacks(model.name, 'intermediate_size', 'trained-physics', 'add it, or give --latency-model roofline');
    }
    const { alpha, weights } = coefficients(setup.alpha, setup.beta);
    if (setup.beta === undefined && !isFitted(gpu.name)) {
      warn(`trained-physics was fitted on H100, A100 and L40S; its step times for ${gpu.name} are an extrapolation`);
    }
    return {
      queueingUs: wholeUs(alpha[0]!),
      postDecodeUs: wholeUs(alpha[1]!),
      outputTokenUs: wholeUs(alpha[2]!),
      stepUs: stepTime(setup, weights),
    };
  },
};

function isFitted(gpuName: string): boolean {
  return gpuName === 'H100' || gpuName === 'L40S' || gpuName.startsWith('A100');
}

/**
 * What does not change from step to step is folded into constants, but only where that keeps every rounding: the
 * results agree to the last bit with the formulas evaluated from left to right.
 */
function stepTime(setup: LatencySetup, b: StepWeights): LatencyModel['stepUs'] {
  const { model, gpu, parallelism } = setup;
  const { tp, dp } = parallelism;
  const { layers, hidden: d, experts, moeIntermediate, denseIntermediate, sharedExpertIntermediate } = model;
  const routed = Math.max(1, model.expertsPerToken);
  const moe = moeLayers(model);
  const dense = layers - moe;
  const ranks = tp * dp;
  const expertRanks = experts > 0 ? ranks : tp;

  const headsPerGpu = model.heads / tp;
  const headDim = Math.floor(d / model.heads);
  const kvWidth = model.kvHeads * headDim;
  const projection = 2 * d + 2 * kvWidth;
  const kvPerGpu = kvWidth / ranks;

  const flopsPerUs = peakTflops(model, gpu) * 1e6;
  const bytesPerUs = gpu.bandwidthTBs * 1e6;

  const ffnFlops = (tokens: number): number => {
    let flops = 0;
    if (moe > 0) {
      flops =
        moe * ((tokens * routed) / expertRanks) * 6 * d * moeIntermediate +
        (moe * tokens * 6 * d * sharedExpertIntermediate) / ranks;
    }
    return dense > 0 ? flops + (dense * tokens * 6 * d * denseIntermediate) / ranks : flops;
  };

  const weightBytes = (): number => {
    const perByte = model.weightBytesPerParam;
    let bytes = (layers * d * projection * perByte) / tp;
    if (moe > 0) {
      bytes +=
        moe * (experts / expertRanks) * 3 * d * moeIntermediate * perByte +
        (moe * 3 * d * sharedExpertIntermediate * perByte) / tp;
    }
    if (dense > 0) bytes += (dense * 3 * d * denseIntermediate * perByte) / tp;
    return bytes;
  };

  const ringShare = (tp - 1) / tp;
  const activationBytes = model.bytesPerParam;
  const allReduceUs = (units: number, tokens: number): number =>
    (units * tokens * d * activationBytes * 2 * ringShare) / bytesPerUs;
  const reducesExperts = moe > 0 && dp === 1 && tp > 1;

  const dispatches = moe > 0 && dp > 1;
  const copies = moeCommBackend(parallelism.moeCommBackend).allToAll ? routed : 1;
  const dispatchUs = (tokens: number): number =>
    moe * (((((tokens / dp) * (expertRanks - 1)) / expertRanks) * 2 * d * activationBytes * copies) / bytesPerUs);

  const weightLoadTerm = b.weightLoad * (weightBytes() / bytesPerUs);
  const layerTerm = b.perLayer * layers;
  const interleaveTerm = model.interleave > 0 ? b.perInterleavedMoeLayer * moe : 0;
  const layers2 = layers * 2;
  const attention = layers * 4 * headsPerGpu;
  const kvStride = layers2 * kvPerGpu;

  return (shape: BatchShape): number => {
    if (shape.scheduled === 0) return 1;
    const prefillTokens = shape.prefillTokens;
    const decodes = shape.decodes;
    const context = shape.decodeContext;

    let prefill = 0;
    if (prefillTokens > 0) {
      const attentionFlops = 4 * headsPerGpu * shape.prefillFullAttention * headDim;
      const compute =
        ((layers2 * prefillTokens * d * projection) / ranks +
          (layers * attentionFlops) / dp +
          ffnFlops(prefillTokens)) /
        flopsPerUs;
      const kv = (kvStride * prefillTokens * KV_BYTES) / bytesPerUs;
      prefill = b.separatePrefillKv
        ? b.prefillCompute * compute + b.prefillKv * kv
        : b.prefillCompute * Math.max(compute, kv);
    }

    let decode = 0;
    if (decodes > 0) {
      const compute =
        ((layers2 * decodes * d * projection) / ranks + (attention * context * headDim) / dp + ffnFlops(decodes)) /
        flopsPerUs;
      const kv = (kvStride * KV_BYTES * (context + decodes)) / bytesPerUs;
      decode = b.separateDecodeKv
        ? b.decodeCompute * compute + b.decodeKv * kv
        : b.decodeCompute * Math.max(compute, kv);
    }

    let communication = 0;
    let dispatch = 0;
    if (ranks > 1) {
      const tokens = prefillTokens + decodes;
      communication = allReduceUs(layers, tokens) / dp + allReduceUs(dense, tokens) / dp;
      if (reducesExperts) communication += allReduceUs(moe, tokens);
      if (dispatches) dispatch = dispatchUs(tokens);
    }

    return stepDurationUs(
      prefill +
        decode +
        weightLoadTerm +
        b.allReduce * communication +
        b.moeDispatch * dispatch +
        layerTerm +
        b.perRequest * shape.scheduled +
        b.perStep +
        interleaveTerm,
    );
  };
}
