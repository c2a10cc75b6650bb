import { expect, it } from 'vitest';
import type { ResourceRecord } from '../../store/resources/resource-record.js';
import { roleAnywhere, workspaceRoles } from './caller.js';

it('roles come from Role resources of the workspace of a key', () => {
  const role = (workspace: string, role: string, deletedAt: number | null = null) =>
    ({ workspace, deletedAt, spec: { role, api_keys: ['k'] } }) as unknown as ResourceRecord;
  const roles = [role('a', 'viewer'), role('a', 'operator'), role('a', 'admin', 1), role('b', 'admin')];
  const found = workspaceRoles(roles, { workspace: 'a', name: 'k' });
  expect([...found]).toEqual([['a', 'operator']]);
  expect(workspaceRoles(roles, { workspace: 'a', name: 'other' }).size).toBe(0);
  expect(roleAnywhere({ name: '', role: 'none', workspaces: found })).toBe('operator');
});
