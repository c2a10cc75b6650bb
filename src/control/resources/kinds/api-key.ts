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
  phases: ['Pending', 'Active', 'Expired', 'Revoked'],
  status: {
    hint: field(written, { help: 'last characters of the secret' }),
    previous_until: field(written, { help: 'time until which the secret before the last rotation is accepted' }),
    revoked_at: field(written, { help: 'time at which it was revoked' }),
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
