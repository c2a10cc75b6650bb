import { choice, listOf, required, section, type Value } from '../../../schema/fields.js';
import { column, defineKind } from '../kind.js';
import { name } from '../parts.js';

const spec = section('Role spec', {
  role: required(choice(['viewer', 'operator', 'admin']), {
    help: 'viewer reads, operator changes endpoints and registries, admin changes everything',
  }),
  api_keys: required(listOf(name, 1, 1000), { help: 'ApiKeys of the workspace that have the role' }),
});

export type RoleSpec = Value<typeof spec>;

export const role = defineKind({
  kind: 'Role',
  plural: 'roles',
  shortNames: [],
  scope: 'workspace',
  summary: 'A role that some API keys have in a workspace.',
  changedBy: 'admin',
  spec,
  phases: ['Ready', 'Deleting'],
  status: {},
  columns: [column('ROLE', 'spec.role'), column('KEYS', 'spec.api_keys')],
  example: { role: 'operator', api_keys: ['alice'] },
});
