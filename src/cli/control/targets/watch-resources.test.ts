import { expect, it } from 'vitest';
import { KINDS } from '../../../control/resources/kinds.js';
import { RunError } from '../../../kernel/errors.js';
import type { ApiClient } from '../../api/api-client.js';
import { watchResources } from './watch-resources.js';

it('reports a lost connection once, however often it is tried again', async () => {
  const stop = new AbortController();
  let tries = 0;
  const client = {
    list: async () => ({ kind: 'WorkspaceList', items: [], resource_version: 7 }),
    // biome-ignore lint/correctness/useYield: a stream that breaks before its first event
    async *events() {
      tries++;
      if (tries === 3) stop.abort();
      throw new RunError('SERVER_UNREACHABLE', 'connection refused');
    },
  } as unknown as ApiClient;
  let lost = 0;
  const watched = { kind: KINDS[0]!, workspace: null, name: null, labels: null };
  for await (const seen of watchResources(client, watched, stop.signal, () => lost++)) expect(seen).toEqual([]);
  expect({ lost, tries }).toEqual({ lost: 1, tries: 3 });
});
