import type { GpuSpec, ModelSpec } from '../../../replica/catalogue/contract.js';
import type { StepCosts } from '../../../replica/latency/profile.js';
import type { ProfileFamily } from './profile-family.js';

/** Shares of a GPU's data sheet that engines reach: reading weights, matrices of prompts, reading KV, attention of prompts. */
const WEIGHT_SHARE = 0.75;
const MATRIX_SHARE = 0.65;
const KV_SHARE = 0.92;
const ATTENTION_SHARE = 0.35;
/** Cost of a token in a shared block, relative to an unshared one, on an H200. */
export const SHARED_CONTEXT = 0.75;
const KV_BYTES = 2;
/** Up to this many tokens a step takes a little longer with each. */
const SMALL_BATCH = 16;
const CURVE_TOKENS = [1, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192, 16_384];

/**
 * Profiles that follow from a model's dimensions and a GPU's data sheet, up to how much of either is reached. A step reads all
 * weights once and computes its tokens; whichever takes longer hides most of the other. Then there is the context to read,
 * and what the host does: for each request of a step, and once for each request before it is queued.
 */
export function physicsFamily(model: ModelSpec, gpu: GpuSpec, tp: number): ProfileFamily {
  const { layers, hidden, heads, kvHeads } = model;
  const headDim = model.headDim ?? hidden / heads;
  const attention = hidden * headDim * (2 * heads + 2 * kvHeads);
  const matrix = 3 * hidden;
  const mlp = matrix * (model.experts > 0 ? model.moeIntermediate * model.experts : model.intermediate);
  const active = model.experts > 0 ? matrix * model.moeIntermediate * model.expertsPerToken : mlp;
  const bytesPerUs = gpu.bandwidthTBs * 1e6 * tp;
  const flopsPerUs = gpu.tflops * 1e6 * tp;
  const weights = (layers * (attention + mlp) + model.vocab * hidden) * model.weightBytesPerParam;
  const pairUs = (4 * layers * heads * headDim) / (ATTENTION_SHARE * flopsPerUs);
  const kvBytes = 2 * layers * kvHeads * headDim * KV_BYTES;
  return {
    parameters: [
      { name: 'weights_us', start: weights / (WEIGHT_SHARE * bytesPerUs), doubt: 0.2 },
      { name: 'small_batch_rise', start: 0.06, doubt: 0.7 },
      { name: 'token_us', start: (2 * layers * (attention + active)) / (MATRIX_SHARE * flopsPerUs), doubt: 0.2 },
      { name: 'context_us', start: kvBytes / (KV_SHARE * bytesPerUs), doubt: 0.05 },
      { name: 'request_us', start: 5, doubt: 0.5 },
      { name: 'queueing_us', start: 8000, doubt: 1 },
    ],
    costsOf: ([weightsUs, rise, tokenUs, contextUs, requestUs, queueingUs]) => ({
      step: {
        ...plainCosts(curveOf(weightsUs!, rise!, tokenUs!)),
        decodeContextUs: contextUs!,
        mixedContextUs: contextUs!,
        prefillPairUs: pairUs,
        requestUs: requestUs!,
      },
      request: { queueingUs: Math.round(queueingUs!), outputTokenUs: 0, postDecodeUs: 0 },
    }),
  };
}

/** Reading weights and computing tokens overlap: neither alone, nor their sum. */
function curveOf(weightsUs: number, rise: number, tokenUs: number): StepCosts['decodeOnly'] {
  return CURVE_TOKENS.map((tokens) => {
    const reading = weightsUs * (1 + rise * Math.min(1, (tokens - 1) / (SMALL_BATCH - 1)));
    return { tokens, us: Math.hypot(reading, tokenUs * tokens) };
  });
}

/** A step that costs what its tokens cost, and nothing else. */
function plainCosts(curve: StepCosts['decodeOnly']): StepCosts {
  return {
    decodeOnly: curve,
    withPrefill: curve,
    decodeContextUs: 0,
    mixedContextUs: 0,
    sharedContext: SHARED_CONTEXT,
    unevenContextUs: 0,
    mixedUnevenContextUs: 0,
    mixedDecodeUs: 0,
    prefillPairUs: 0,
    prefillLongestUs: 0,
    prefillRequestUs: 0,
    requestUs: 0,
    launch: null,
  };
}
