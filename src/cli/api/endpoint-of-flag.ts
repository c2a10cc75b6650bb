import { conflictingFlags, missingFlag } from '../errors.js';
import type { ApiClient } from './api-client.js';

/** More are not listed in a message. */
const MOST_NAMED = 10;

/**
 * The endpoint that the flag names, or the only one.
 * @param workspace of a name without one
 * @param only where the only one is looked for; null for everywhere
 */
export async function endpointOfFlag(
  client: ApiClient,
  given: string | null,
  workspace: string,
  only: string | null = null,
): Promise<{ workspace: string; name: string }> {
  if (given !== null) {
    const slash = given.indexOf('/');
    return slash < 0 ? { workspace, name: given } : { workspace: given.slice(0, slash), name: given.slice(slash + 1) };
  }
  const query = { workspace: only };
  const { items } = await client.list<{ workspace: string; name: string }>('/api/v1/live', { query }, MOST_NAMED + 1);
  if (items.length === 1) return items[0]!;
  if (items.length === 0) throw conflictingFlags('--gateway', 'serves no endpoint', 'give a gateway that serves one');
  const names = items.map(({ name, workspace: its }) => (its === workspace ? name : `${its}/${name}`));
  const isCut = items.length > MOST_NAMED;
  throw missingFlag(
    '--endpoint',
    `is required: the gateway serves ${isCut ? `more than ${MOST_NAMED}` : items.length} endpoints`,
    `one of ${names.slice(0, MOST_NAMED).join(', ')}${isCut ? ', ...' : ''}`,
  );
}
