import type { NestedFields } from './config-fields.js';

const WEIGHT_AND_ACTIVATION_BITS = /^w([1-9]\d*)a[1-9]\d*$/;

/**
 * Bytes per weight: from the quantisation section, else from the model's name (`w4a16`, `fp8`), else undefined for
 * weights as wide as the activations.
 */
export function weightBytes(quantisation: NestedFields | undefined, modelName: string): number | undefined {
  return (quantisation && configuredWeightBytes(quantisation)) ?? namedWeightBytes(modelName);
}

function configuredWeightBytes(quantisation: NestedFields): number | undefined {
  const bits = quantisation.positive('bits');
  if (bits !== undefined) return bits / 8;
  const method = quantisation.text('quant_method');
  if (method === 'fp8') return 1;
  if (method !== 'compressed-tensors') return undefined;
  const groups = quantisation.nested('config_groups');
  const first = groups?.keys().sort()[0];
  const groupBits = first === undefined ? undefined : groups?.nested(first)?.nested('weights')?.positive('num_bits');
  return groupBits === undefined ? undefined : groupBits / 8;
}

function namedWeightBytes(modelName: string): number | undefined {
  const tokens = modelName.toLowerCase().split(/[^a-z0-9]+/);
  for (const token of tokens) {
    const match = WEIGHT_AND_ACTIVATION_BITS.exec(token);
    if (match !== null) return Number(match[1]) / 8;
  }
  return tokens.includes('fp8') ? 1 : undefined;
}
