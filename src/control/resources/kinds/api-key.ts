import { z } from 'zod';
import type { KeyLimits, KeySettings } from '../../../store/keys/key-record.js';
import { KEY_ROLES } from '../../../store/keys/key-record.js';
import { column, defineKind } from '../kind.js';
import { text } from '../parts.js';

const whole = z.int().positive();
const dollars = z.number().positive().max(9_000_000);

const limits = z.strictObject({
  requests_per_minute: whole.optional(),
  tokens_per_minute: whole.optional(),
  concurrent: whole.optional(),
  tokens_per_day: whole.optional(),
  tokens_per_month: whole.optional(),
  dollars_per_day: dollars.optional(),
  dollars_per_month: dollars.optional(),
});

const spec = z.strictObject({
  tenant: text.min(1).max(200).optional().describe('Who its requests are counted for; else its name'),
  models: z.array(text.min(1).max(200)).min(1).max(1000).optional().describe('Those it may ask; else all'),
  max_slo_class: text.min(1).max(200).optional().describe('The most important class its requests may claim'),
  role: z.enum(KEY_ROLES).default('none').describe('What it may do besides asking models, in every workspace'),
  limits: z.record(text.min(1).max(200), limits).default({}).describe("By model; '*' for all of them together"),
  expires_at: z.iso.datetime({ offset: true }).optional().describe('When it ends'),
});

export type ApiKeySpec = z.output<typeof spec>;

export const apiKey = defineKind({
  kind: 'ApiKey',
  plural: 'apikeys',
  shortNames: ['key', 'keys'],
  scope: 'workspace',
  summary: 'A key that requests are sent with: what it may ask, how much, and until when.',
  changedBy: 'admin',
  spec,
  phases: ['Pending', 'Active', 'Expired', 'Failed', 'Deleting'],
  status: {
    key_id: z.string().optional().describe('What the key is called in usage and limits'),
    hint: z.string().optional().describe('The last characters of its text'),
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

/** What the store of keys takes. */
export function keySettings(workspace: string, name: string, given: ApiKeySpec): KeySettings {
  const { expires_at, limits, max_slo_class, models, role, tenant } = given;
  return {
    name: `${workspace}/${name}`,
    tenant: tenant ?? name,
    models: models ?? null,
    maxSloClass: max_slo_class ?? null,
    role,
    limits: Object.fromEntries(Object.entries(limits).map(([model, of]) => [model, camel(of)])) as KeyLimits,
    expiresAt: expires_at === undefined ? null : Date.parse(expires_at),
  };
}

function camel(limits: Readonly<Record<string, number | undefined>>): Record<string, number | undefined> {
  return Object.fromEntries(
    Object.entries(limits).map(([name, value]) => [name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()), value]),
  );
}
