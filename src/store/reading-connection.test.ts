import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openStore } from './open-store.js';

it('reads of a file do not wait for a transaction, and see it once it has ended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-reading-'));
  const store = await openStore(join(folder, 'x.db'));
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const value = () => store.settings.get('a');
  await store.exclusively(async (tx) => {
    await tx.insertInto('settings').values({ name: 'a', value: 'b' }).execute();
    expect(await value()).toBeNull();
  });
  expect(await value()).toBe('b');
});
