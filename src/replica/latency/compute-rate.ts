import type { GpuSpec, ModelSpec } from '../catalogue/contract.js';

/** TFLOPS the GPU reaches for this model: one-byte weights run at the FP8 rate where there is one. */
export function peakTflops(model: ModelSpec, gpu: GpuSpec): number {
  return model.weightBytesPerParam === 1 && gpu.tflopsFp8 > 0 ? gpu.tflopsFp8 : gpu.tflops;
}
