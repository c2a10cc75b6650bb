import { moeLayers } from '../catalogue/contract.js';
import { checkParallelism } from '../catalogue/parallelism-check.js';
import { badCoefficients, modelLacks } from '../errors.js';
import { peakTflops } from './compute-rate.js';
import type { BatchShape, LatencyModel, LatencyModelKind, LatencySetup } from './contract.js';
import { moeCommBackend } from './moe-comm.js';
import { stepDurationUs } from './whole-us.js';

export const roofline: LatencyModelKind = {
  name: 'roofline',
  summary: 'The larger of compute time and memory time at the utilisation of the GPU catalogue; no overheads.',
  create(setup) {
    const { model, parallelism } = setup;
    checkParallelism(model, parallelism.tp, parallelism.dp);
    moeCommBackend(parallelism.moeCommBackend);
    if (setup.alpha !== undefined || setup.beta !== undefined) {
      const flag = setup.alpha !== undefined ? '--alpha-coeffs' : '--beta-coeffs';
      throw badCoefficients(
        flag,
        'roofline has no coefficients',
        'leave it out, or give --latency-model trained-physics',
      );
    }
    if (model.experts > 0 && model.expertsPerToken === 0) {
      throw modelLacks(
        model.name,
        'num_experts_per_tok',
        'roofline',
        'add it, or give --latency-model trained-physics',
      );
    }
    return { queueingUs: 0, postDecodeUs: 0, outputTokenUs: 0, stepUs: stepTime(setup) };
  },
};

/** `base` to a whole power by squaring: the same bits on every machine, which `Math.pow` does not promise. */
function wholePower(base: number, exponent: number): number {
  let result = 1;
  let square = base;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result *= square;
    square *= square;
  }
  return result;
}

function stepTime(setup: LatencySetup): LatencyModel['stepUs'] {
  const { model, gpu } = setup;
  const { tp } = setup.parallelism;
  const { layers, hidden: d, heads, experts, expertsPerToken } = model;
  const moe = moeLayers(model);
  const dense = layers - moe;
  const moeMatrices = 2 * d * (model.moeIntermediate || 4 * d);
  const denseMatrices = 2 * d * (model.denseIntermediate || 4 * d);

  const headDim = d / heads;
  const kvWidth = model.kvHeads * headDim;
  const projection = d * d + 2 * d * kvWidth;
  const attentionWeights = (d * (d + 2 * kvWidth) + d * d) * layers;
  const denseWeights = dense > 0 ? denseMatrices * dense : 0;
  const missedByOneToken = (experts - expertsPerToken) / experts;

  const kvBytesPerToken = 2 * layers * model.kvHeads * headDim * model.bytesPerParam;
  const activationBytesPerToken = layers * d * model.bytesPerParam;
  const bytesPerWeight = model.weightBytesPerParam;

  const peak = peakTflops(model, gpu) * 1e12;
  const prefillRate = peak * gpu.mfuPrefill;
  const decodeRate = peak * gpu.mfuDecode;
  const bytesPerSecond = gpu.bandwidthTBs * 1e12;

  /** `attention` is the sum over requests of new tokens times the context each of them sees on average. */
  const flops = (tokens: number, attention: number): number => {
    let matrices = (2 * tokens * projection + 2 * tokens * d * d) * layers + 4 * heads * attention * headDim * layers;
    let mlp = 0;
    if (moe > 0) mlp = 2 * tokens * moeMatrices * expertsPerToken * moe;
    if (dense > 0) mlp += 2 * tokens * denseMatrices * dense;
    matrices += mlp;
    return matrices + (5 * heads * attention + 2 * tokens * d) * layers;
  };

  /** A layer loads only the experts that at least one of the step's tokens is sent to. */
  const weightBytes = (tokens: number): number => {
    let weights = attentionWeights;
    if (moe > 0) weights += moeMatrices * experts * (1 - wholePower(missedByOneToken, tokens)) * moe;
    return (weights + denseWeights) * bytesPerWeight;
  };

  return (shape: BatchShape): number => {
    if (shape.scheduled === 0) return 1;
    const tokens = shape.prefillTokens + shape.decodes;
    const computed = shape.prefillContext + shape.decodeContext;
    const prefill = flops(shape.prefillTokens, shape.prefillCausalAttention) / tp / prefillRate;
    const decode = flops(shape.decodes, shape.decodeContext) / tp / decodeRate;
    const dynamicBytes = kvBytesPerToken * tokens + kvBytesPerToken * computed + activationBytesPerToken * tokens;
    const memory = (weightBytes(tokens) / tp + dynamicBytes / tp) / bytesPerSecond;
    return stepDurationUs(Math.max(prefill + decode, memory) * 1e6);
  };
}
