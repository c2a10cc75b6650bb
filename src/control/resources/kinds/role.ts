import { z } from 'zod';
import { column, defineKind } from '../kind.js';
import { name } from '../parts.js';

const spec = z.strictObject({
  role: z.enum(['viewer', 'operator', 'admin']).describe('To look, to change what runs, or to do everything'),
  api_keys: z.array(name).min(1).max(1000).describe('The ApiKeys of the workspace that have it'),
});

export type RoleSpec = z.output<typeof spec>;

export const role = defineKind({
  kind: 'Role',
  plural: 'roles',
  shortNames: [],
  scope: 'workspace',
  summary: 'What the holders of some keys may do in a workspace.',
  changedBy: 'admin',
  spec,
  phases: ['Ready', 'Deleting'],
  status: {},
  columns: [column('ROLE', 'spec.role'), column('KEYS', 'spec.api_keys')],
  example: { role: 'operator', api_keys: ['alice'] },
});
