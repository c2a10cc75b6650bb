import type { GpuSpec, ModelSpec } from './catalogue/contract.js';
import { loadGpu } from './catalogue/gpu-catalogue.js';
import { loadModel } from './catalogue/model-catalogue.js';
import type { ReplicaModelConfig } from './replica-model-config.js';

/** The model and the GPU of a replica, from the catalogue or the user's files. */
export function replicaFiles(replica: ReplicaModelConfig): { model: ModelSpec; gpu: GpuSpec } {
  const { model, hardware, modelConfigFolder, hardwareConfig } = replica;
  return {
    model: loadModel(model, modelConfigFolder === undefined ? {} : { modelConfigFolder }),
    gpu: loadGpu(hardware, hardwareConfig === undefined ? {} : { hardwareConfig }),
  };
}
