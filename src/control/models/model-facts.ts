import { describeModel } from './describe-model.js';
import type { ModelSource } from './description/model-source.js';
import { isModelProblem } from './errors.js';

/** The properties of a model for display; the reason when they cannot be read. */
export async function modelFacts(source: ModelSource, name: string): Promise<Record<string, unknown>> {
  try {
    const model = await describeModel(source, name);
    return {
      architecture: model.architecture,
      layers: model.layers,
      heads: model.heads,
      kv_heads: model.kvHeads,
      head_dim: model.headDim,
      experts: model.experts,
      dtype: model.dtype,
      parameters: model.parameters,
      weight_bytes: model.weightBytes,
      context_length: model.contextLength,
      kv_bytes_per_token: model.kvBytesPerToken,
    };
  } catch (error) {
    if (!isModelProblem(error)) throw error;
    return { problem: error.message };
  }
}
