import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openStore } from '../../store/open-store.js';
import { LabUploads } from '../../twin/lab/lab-uploads.js';
import { followWorkspaces } from './follow-workspaces.js';

it('deletes the uploads of workspaces that are deleted, now or while the process did not run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-follow-'));
  const store = await openStore(':memory:');
  const ref = { kind: 'Workspace', workspace: '', name: 'team' };
  const { uid } = await store.resources.change('alice', (tx) => tx.put(ref, { labels: {}, spec: {} }));
  const uploads = new LabUploads(folder);
  const { id } = await uploads.put('team', 'a.jsonl', 'one');
  for (const workspace of ['default', 'gone']) await uploads.put(workspace, 'a.jsonl', 'one');
  const kept = () => ['default', 'team', 'gone'].filter((name) => uploads.get(name, id) !== undefined);
  const stop = await followWorkspaces(store.resources, uploads);
  expect(kept()).toEqual(['default', 'team']);
  await store.resources.change('alice', (tx) => tx.markDeleted(ref));
  await store.resources.change('alice', (tx) => tx.remove(ref, uid));
  await expect.poll(kept).toEqual(['default']);
  stop();
  await store.close();
  rmSync(folder, { recursive: true });
});
