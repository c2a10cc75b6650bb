import type { GpuSpec, ModelSpec } from '../../../replica/catalogue/contract.js';
import { gpuFamily } from '../../../replica/latency/physics/gpu-family.js';
import { modelWork } from '../../../replica/latency/physics/model-work.js';
import { physicsCosts } from '../../../replica/latency/physics/physics-costs.js';
import type { ProfileFamily } from './profile-family.js';

/** From GPU to GPU and model to model the default coefficients are right to about this. */
const GPU_DOUBT = 0.12;
/** Hardware may be another than its data sheet says, all of it: a share of a GPU, a capped clock. */
const HARDWARE_DOUBT = 0.8;

/**
 * Profiles that follow from a model's dimensions and a GPU's data sheet. The search starts at the coefficients of the default
 * latency model. Times of the GPU change together more readily than one of them alone.
 */
export function physicsFamily(model: ModelSpec, gpu: GpuSpec, tp: number): ProfileFamily {
  const { name, coefficients } = gpuFamily(gpu.name);
  const work = modelWork(model, gpu, { tp, dp: 1, moeCommBackend: 'allgather_reducescatter' });
  const start = {
    weightsUs: work.weightsUs(1) / coefficients.weightShare,
    tokenUs: work.tokenUs / coefficients.matrixShare,
    contextUs: work.contextUs / coefficients.contextShare,
  };
  return {
    parameters: [
      { name: 'weights_us', start: start.weightsUs, doubt: GPU_DOUBT },
      { name: 'token_us', start: start.tokenUs, doubt: GPU_DOUBT },
      { name: 'context_us', start: start.contextUs, doubt: GPU_DOUBT },
      { name: 'request_us', start: coefficients.requestUs, doubt: 0.5 },
      { name: 'crowd_us', start: coefficients.crowdUs, doubt: 0.7 },
      { name: 'queueing_us', start: Math.max(1000, coefficients.queueingUs), doubt: 1 },
    ],
    together: { names: ['weights_us', 'token_us', 'context_us'], doubt: HARDWARE_DOUBT, as: `${gpu.name} (${name})` },
    costsOf: ([weightsUs, tokenUs, contextUs, requestUs, crowdUs, queueingUs]) =>
      physicsCosts(work, {
        ...coefficients,
        weightShare: (coefficients.weightShare * start.weightsUs) / weightsUs!,
        matrixShare: (coefficients.matrixShare * start.tokenUs) / tokenUs!,
        attentionShare: (coefficients.attentionShare * start.tokenUs) / tokenUs!,
        contextShare: (coefficients.contextShare * start.contextUs) / contextUs!,
        requestUs: requestUs!,
        crowdUs: crowdUs!,
        queueingUs: queueingUs!,
      }),
  };
}
