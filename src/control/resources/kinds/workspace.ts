import { section } from '../../../schema/fields.js';
import { column, defineKind } from '../kind.js';
import { description } from '../parts.js';

const spec = section('Workspace spec', { description });

export const workspace = defineKind({
  kind: 'Workspace',
  plural: 'workspaces',
  shortNames: ['ws'],
  scope: 'global',
  summary: 'A namespace of endpoints, model registries, API keys and roles.',
  changedBy: 'admin',
  spec,
  phases: ['Ready', 'Deleting'],
  status: {},
  columns: [column('DESCRIPTION', 'spec.description')],
  example: { description: 'The search team' },
});
