import { checkKvHeads, checkParallelism } from '../../catalogue/parallelism-check.js';
import { modelLacks } from '../../errors.js';
import type { LatencyModelKind } from '../contract.js';
import { UNMEASURED } from '../gpu-coefficients.js';
import { profileLatency } from '../profile-latency.js';
import { gpuFamily } from './gpu-family.js';
import { modelWork } from './model-work.js';
import { physicsCosts } from './physics-costs.js';

export const physics: LatencyModelKind = {
  name: 'physics',
  summary: 'Weights, matrices, context and layers of a step, at the shares of the data sheet that measured runs reach.',
  create(setup, warn) {
    const { model, gpu, parallelism } = setup;
    checkParallelism(model, parallelism.tp, parallelism.dp);
    checkKvHeads(model, parallelism.tp);
    if (model.intermediate === 0) {
      throw modelLacks(model.name, 'intermediate_size', 'physics', 'add it, or give --latency-model roofline');
    }
    const family = setup.family ?? gpuFamily(gpu.name);
    if (family.name === UNMEASURED) {
      warn(`no run on ${gpu.name} was measured: its step times follow from its data sheet; measure with observe`);
    }
    return profileLatency(physicsCosts(modelWork(model, gpu, parallelism), family.coefficients));
  },
};
