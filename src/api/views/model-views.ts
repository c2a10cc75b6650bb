import * as v from 'valibot';
import type { ModelFile } from '../../control/models/contract.js';
import { section } from '../../schema/fields.js';
import { described, naturalNumber, nullable, numeric, string } from './parts.js';

export const MODEL_SUMMARY = section('ModelSummary', {
  name: described(string, 'name of the model'),
  versions: described(v.array(string), 'known versions; empty where the registry does not list them'),
});

const MODEL_FILE: v.GenericSchema<unknown, ModelFile> = section('ModelFile', {
  path: described(string, 'path in the model'),
  size: described(naturalNumber, 'bytes'),
  checksum: described(
    nullable(
      section('Checksum', {
        algorithm: described(v.picklist(['sha256', 'git-sha1']), 'algorithm'),
        hex: described(string, 'digest'),
      }),
    ),
    'checksum; null when the registry has none',
  ),
  tag: described(nullable(string), 'what the registry tells versions of the file apart by; null when unknown'),
});

const resolved = {
  kind: described(v.literal('Model'), 'always Model'),
  name: described(string, 'name of the model'),
  version: described(string, 'branch, tag or commit that was resolved'),
  revision: described(string, 'commit that it stands for'),
  bytes: described(naturalNumber, 'size of all files'),
  files: described(v.array(MODEL_FILE), 'its files'),
};

export const MODEL = v.pipe(
  v.union([
    section('DescribedModel', {
      ...resolved,
      architecture: described(nullable(string), 'model class; null when the configuration does not name it'),
      layers: described(naturalNumber, 'layers'),
      heads: described(naturalNumber, 'attention heads'),
      kv_heads: described(naturalNumber, 'KV heads'),
      head_dim: described(numeric, 'dimension of a head'),
      experts: described(naturalNumber, 'experts; 0 for a dense model'),
      dtype: described(string, 'type of activations, KV cache and unquantised weights'),
      parameters: described(nullable(naturalNumber), 'parameters; null when unknown'),
      weight_bytes: described(nullable(numeric), 'bytes of the weights; null when unknown'),
      context_length: described(nullable(naturalNumber), 'longest context; null when unlimited'),
      kv_bytes_per_token: described(numeric, 'bytes of KV cache per token'),
    }),
    section('UndescribedModel', { ...resolved, problem: described(string, 'why its properties cannot be read') }),
  ]),
  v.metadata({ title: 'Model' }),
);
