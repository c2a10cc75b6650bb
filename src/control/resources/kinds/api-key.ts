import { field } from '../../../schema/fields.js';
import { KEY_SCHEMA, type KeySpec } from '../../../store/keys/key-schema.js';
import { column, defineKind } from '../kind.js';
import { written } from '../parts.js';

export type ApiKeySpec = KeySpec;

export const apiKey = defineKind({
  kind: 'ApiKey',
  plural: 'apikeys',
  shortNames: ['key', 'keys'],
  scope: 'workspace',
  summary: 'An API key of a client: models, limits, role and expiry.',
  changedBy: 'admin',
  spec: KEY_SCHEMA,
  phases: ['Pending', 'Active', 'Expired', 'Failed', 'Deleting'],
  status: {
    key_id: field(written, { help: 'id of the key in usage and limits' }),
    hint: field(written, { help: 'last characters of the secret' }),
  },
  columns: [
    column('PHASE', 'status.phase'),
    column('ROLE', 'spec.role'),
    column('HINT', 'status.hint'),
    column('TENANT', 'spec.tenant', 'wide'),
    column('EXPIRES', 'spec.expires_at', 'wide'),
  ],
  example: { models: ['qwen/qwen3-14b'], limits: { '*': { requests_per_minute: 600 } } },
});
