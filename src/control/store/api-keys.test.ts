import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hashKeyText } from '../../store/keys/key-text.js';
import { openStore, type Store } from '../../store/open-store.js';
import { SecretBox } from '../../store/resources/secrets.js';
import { readResources } from '../resources/read-resources.js';
import { issueKey, syncKey } from './api-keys.js';
import { ControlStore } from './control-store.js';

const REF = { kind: 'ApiKey', workspace: 'default', name: 'alice' };
let folder: string;
let store: Store;
let control: ControlStore;

const apply = (spec: string) =>
  control.apply(
    'bob',
    readResources(`apiVersion: twinyard/v1\nkind: ApiKey\nmetadata: {name: alice}\nspec: ${spec}\n`, 'f'),
  );

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-keys-'));
  store = await openStore(':memory:');
  control = new ControlStore(store, SecretBox.open(join(folder, 'secrets.key')));
  await apply('{models: [a]}');
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

it('a key has a text when it is issued, and follows its resource until both end', async () => {
  await syncKey(control, store.keys, REF);
  expect(await store.keys.list()).toEqual([]);
  const { id, text } = await issueKey(control, store.keys, REF, 'alice');
  expect(await store.keys.get(id)).toMatchObject({ name: 'default/alice', models: ['a'], hash: hashKeyText(text) });
  expect((await control.get(REF))!.status).toMatchObject({
    phase: 'Active',
    key_id: id,
    hint: text.slice(-4),
    observed_generation: 1,
  });
  await apply('{models: [b], role: viewer}');
  await syncKey(control, store.keys, REF);
  expect(await store.keys.get(id)).toMatchObject({ models: ['b'], role: 'viewer', hash: hashKeyText(text) });
  expect((await control.get(REF))!.status).toMatchObject({ observed_generation: 2 });
  const version = await store.keys.version();
  await syncKey(control, store.keys, REF);
  expect(await store.keys.version()).toBe(version);
  await control.delete('bob', REF);
  await expect(issueKey(control, store.keys, REF, 'alice')).rejects.toMatchObject({ code: 'RESOURCE_DELETING' });
  await syncKey(control, store.keys, REF);
  await syncKey(control, store.keys, REF);
  expect((await store.keys.get(id))!.revokedAt).not.toBeNull();
  expect(await control.get(REF)).toBeNull();
  await expect(issueKey(control, store.keys, REF, 'alice')).rejects.toMatchObject({ code: 'RESOURCE_UNKNOWN' });
});

it('a key that was made just before a crash is taken up again, with no more rights than its resource gives', async () => {
  const lost = await store.keys.create({ name: 'default/alice', role: 'admin' });
  const { id } = await issueKey(control, store.keys, REF, 'alice');
  expect(id).toBe(lost.key.id);
  expect(await store.keys.list()).toMatchObject([{ role: 'none', models: ['a'] }]);
});

it('a key that somebody has revoked stays so, and another is issued in its place', async () => {
  const { id } = await issueKey(control, store.keys, REF, 'alice');
  await store.keys.revoke(id);
  await apply('{models: [c]}');
  await syncKey(control, store.keys, REF);
  expect(await store.keys.get(id)).toMatchObject({ models: ['a'] });
  expect((await issueKey(control, store.keys, REF, 'alice')).id).not.toBe(id);
});
