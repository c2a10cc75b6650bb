import { expect, it } from 'vitest';
import { openStore } from '../../../store/open-store.js';
import { used } from '../../../store/usage/used.fixture.js';
import { ApiHost } from '../../api-host.js';
import { ADMIN } from '../../fake-api.fixture.js';
import { respond } from '../../respond.js';

it('returns the sum of all pages beside each of them, whatever it groups by', async () => {
  const store = await openStore(':memory:');
  const rows = ['k1', 'k2', 'k3'].flatMap((keyId) => [
    used({ keyId, endpoint: 'chat' }),
    used({ keyId, endpoint: 'search/chat', model: 'n', day: '2026-01-02' }),
  ]);
  await store.usage.fold('j', rows);
  const host = new ApiHost({ store, gateway: null, control: null });
  const get = async (query: string) => {
    const response = await respond(host, ADMIN, {
      ...{ method: 'GET', path: '/api/v1/usage', query: new URLSearchParams(query) },
      ...{ header: () => undefined, body: async () => '', signal: new AbortController().signal },
    });
    // biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
    return (response as { body: any }).body;
  };
  for (const by of ['key', 'key,model', 'day', 'model,key', 'total']) {
    const { items, next, total } = await get(`by=${by}&limit=1`);
    expect([by, items.length, next === null]).toEqual([by, 1, by === 'total']);
    expect(total).toMatchObject({ requests: 6, input_tokens: 600, dollars: 42e-9 });
  }
  expect((await get('by=key&workspace=search')).total).toMatchObject({ requests: 3 });
  expect((await get('by=day&workspace=none')).total).toMatchObject({ requests: 0, dollars: 0 });
  await store.close();
});
