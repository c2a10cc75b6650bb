import { z } from 'zod';
import { column, defineKind } from '../kind.js';
import { text } from '../parts.js';

const spec = z.strictObject({
  description: text.default('').describe('What it is for'),
});

export type WorkspaceSpec = z.output<typeof spec>;

export const workspace = defineKind({
  kind: 'Workspace',
  plural: 'workspaces',
  shortNames: ['ws'],
  scope: 'global',
  summary: 'A group of people and what is theirs: endpoints, registries, keys and roles.',
  changedBy: 'admin',
  spec,
  phases: ['Ready', 'Deleting'],
  status: {},
  columns: [column('DESCRIPTION', 'spec.description')],
  example: { description: 'The search team' },
});
