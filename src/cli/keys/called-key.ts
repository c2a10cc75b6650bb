import { ambiguousKey, unknownKey } from '../../store/keys/errors.js';
import type { KeyRecord } from '../../store/keys/key-record.js';
import { keyIdOf } from '../../store/keys/key-text.js';
import type { Store } from '../../store/open-store.js';

/** How a key is named on the command line. */
export const ONE_KEY = { usage: 'KEY', least: 1, most: 1 };

/**
 * The key with this id or, if just one has it, this name. Keys in use come before those that are revoked, which keep
 * their names. Somebody may give a key's whole text: its id is in it, and no message repeats the rest.
 */
export async function calledKey({ keys }: Store, called: string): Promise<KeyRecord> {
  const byId = await keys.get(keyIdOf(called) ?? called);
  if (byId !== null) return byId;
  const named = (await keys.list()).filter(({ name }) => name === called);
  const inUse = named.filter(({ revokedAt }) => revokedAt === null);
  const candidates = inUse.length > 0 ? inUse : named;
  if (candidates.length > 1) {
    throw ambiguousKey(
      called,
      candidates.map(({ id }) => id),
    );
  }
  if (candidates[0] === undefined) throw unknownKey(called);
  return candidates[0];
}
