import * as v from 'valibot';
import type { Given } from '../../schema/fields.js';
import type { Store } from '../open-store.js';
import { API_KEY } from './key-record.js';
import { KEY_SCHEMA } from './key-schema.js';

type Stored = Pick<Store, 'keys' | 'resources'>;
type GivenSpec = Given<typeof KEY_SCHEMA>;

/** The ApiKey of a name, in the workspace `default` unless given. */
export const keyRef = (name: string, workspace = 'default') => ({ kind: API_KEY, workspace, name });

/** Creates an ApiKey and issues its secret. */
export async function newKey(
  store: Stored,
  name: string,
  spec: GivenSpec = {},
  workspace = 'default',
): Promise<{ id: string; secret: string }> {
  await putKey(store, name, spec, workspace);
  const { record, secret } = await store.keys.issue(keyRef(name, workspace), null, 'test');
  return { id: record.uid, secret };
}

/** Creates an ApiKey, or gives it another spec. */
export async function putKey(store: Stored, name: string, spec: GivenSpec, workspace = 'default'): Promise<void> {
  const content = { spec: v.parse(KEY_SCHEMA, spec), labels: {} };
  await store.resources.change('test', (tx) => tx.put(keyRef(name, workspace), content));
}

/** Deletes an ApiKey, which is gone at once. */
export async function deleteKey({ resources }: Stored, name: string): Promise<void> {
  await resources.change('test', async (tx) => {
    const { uid } = await tx.markDeleted(keyRef(name));
    await tx.remove(keyRef(name), uid);
  });
}
