import { ConfigFields } from '../../replica/catalogue/config-fields.js';
import type { ModelSpec } from '../../replica/catalogue/contract.js';
import { headDimension, kvBytesPerToken, parameters } from '../../replica/catalogue/kv-capacity.js';
import { parseJsonFile } from '../../replica/catalogue/load-json.js';
import { parseModelConfig } from '../../replica/catalogue/parse-model-config.js';
import type { ModelSource } from './description/model-source.js';
import { readModelWeights } from './description/model-weights.js';
import { noConfig } from './errors.js';

export interface ModelDescription {
  readonly name: string;
  /** The model class: `LlamaForCausalLM`; null when the config does not name it. */
  readonly architecture: string | null;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** 0 for a dense model. */
  readonly experts: number;
  /** The type of activations, KV cache and unquantised weights. */
  readonly dtype: string;
  /** Null when neither weights nor config show it. */
  readonly parameters: number | null;
  /** True: from the headers of the weights; false: estimated from the dimensions. */
  readonly parametersCounted: boolean;
  readonly weightBytes: number | null;
  /** True: the size of the files; false: estimated. */
  readonly weightBytesCounted: boolean;
  /** Null when neither the model nor its tokenizer limits it. */
  readonly contextLength: number | null;
  /** On one GPU. */
  readonly kvBytesPerToken: number;
  /** For the simulator and the KV capacity. */
  readonly spec: ModelSpec;
}

const CONFIG = 'config.json';
const TOKENIZER_CONFIG = 'tokenizer_config.json';
/** Tokenizers without a limit have an enormous number. */
const MOST_CONTEXT = 2 ** 40;

/**
 * Reads the properties of a model from its configuration and the headers of its weights, on this machine or in a registry.
 * @param name used in errors and the description; some quantisations are recognised only by it (`-FP8`, `-w4a16`)
 */
export async function describeModel(source: ModelSource, name: string): Promise<ModelDescription> {
  const file = `${source.place}/${CONFIG}`;
  const text = await readResponseText(source, CONFIG);
  if (text === null) throw noConfig(source.place);
  const config = parseJsonFile(text, file);
  const weights = await readModelWeights(source);
  const fields = new ConfigFields(file, config);
  const declared = fields.text('torch_dtype') || fields.text('dtype');
  // A config may leave the type to the weights.
  const complete = declared === '' ? JSON.stringify({ ...config, torch_dtype: weights.dtype }) : text;
  const spec = parseModelConfig(complete, file, name.toLowerCase());
  // Without all dimensions the parameters cannot be estimated.
  const estimate = spec.vocab === 0 || spec.intermediate === 0 ? null : parameters(spec);
  const { architectures } = config;
  return {
    name,
    architecture: Array.isArray(architectures) && typeof architectures[0] === 'string' ? architectures[0] : null,
    layers: spec.layers,
    heads: spec.heads,
    kvHeads: spec.kvHeads,
    headDim: headDimension(spec),
    experts: spec.experts,
    dtype: declared || weights.dtype!,
    parameters: weights.parameters ?? estimate,
    parametersCounted: weights.parameters !== null,
    weightBytes: weights.bytes ?? (estimate === null ? null : Math.trunc(estimate * spec.weightBytesPerParam)),
    weightBytesCounted: weights.bytes !== null,
    contextLength: spec.maxContext || (await tokenizerContext(source)),
    kvBytesPerToken: kvBytesPerToken(spec, 1),
    spec,
  };
}

async function tokenizerContext(source: ModelSource): Promise<number | null> {
  const text = await readResponseText(source, TOKENIZER_CONFIG);
  if (text === null) return null;
  const { model_max_length: length } = parseJsonFile(text, `${source.place}/${TOKENIZER_CONFIG}`);
  return typeof length === 'number' && length >= 1 && length <= MOST_CONTEXT ? Math.trunc(length) : null;
}

async function readResponseText(source: ModelSource, path: string): Promise<string | null> {
  const size = source.sizes.get(path);
  return size === undefined ? null : (await source.read(path, 0, size)).toString('utf8');
}
