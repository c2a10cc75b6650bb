import type { ConfigFields } from './config-fields.js';

/** Scalings whose factor `max_position_embeddings` already contains. */
const ALREADY_INCLUDED = ['su', 'longrope', 'llama3'];

/** The longest context the model serves, rope scaling applied; 0 when the config does not say. */
export function scaledContext(fields: ConfigFields): number {
  const positions = fields.optionalCount('max_position_embeddings');
  const rope = fields.nested('rope_scaling');
  const factor = rope?.positive('factor') ?? 1;
  const type = rope?.text('type') ?? rope?.text('rope_type') ?? '';
  if (factor <= 1 || ALREADY_INCLUDED.includes(type) || fields.text('model_type').includes('gemma3')) return positions;
  const unscaled = type === 'yarn' ? rope?.positive('original_max_position_embeddings') : undefined;
  return Math.trunc((unscaled ?? positions) * factor);
}
