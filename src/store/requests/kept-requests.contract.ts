import { describe, expect, it } from 'vitest';
import type { TestStores } from '../stores.fixture.js';
import { keptRequest } from './kept-request.fixture.js';
import type { KeptRequest, RequestFilter } from './kept-request.js';
import type { KeptRequests } from './kept-requests.js';

const added = (requests: readonly KeptRequest[]) => requests.map((request) => ({ request, explanation: null }));

/** The contract for the requests that a store keeps. */
export function keptRequestsContract(stores: TestStores): void {
  describe('kept requests', () => {
    const ids = async (requests: KeptRequests, filter: RequestFilter) =>
      (await requests.list(filter, null, 100)).map(({ id }) => id);

    it('are returned as they were added, with the explanation of their decision', async () => {
      const { requests } = await stores.fresh();
      const failedAttempts = [{ replica: 'b', startUs: 1, endUs: 2, cause: 'connect' }];
      const odd = keptRequest({
        id: 'naïve \0 \ud800 "\u{1f600}',
        facts: { ...keptRequest().facts, cause: 'it’s "odd"', failedAttempts },
      });
      const explanation = { replica: 'a', replicas: [{ id: 'a', score: 0.5 }] };
      await requests.add([{ request: odd, explanation }]);
      const [found] = await requests.list({}, null, 9);
      expect(found).toEqual({ ...odd, id: 'naïve \ufffd \ufffd "\u{1f600}' });
      expect(await requests.find(odd.id)).toEqual(found);
      expect(await requests.explanation(found!)).toEqual(explanation);
      expect(await requests.explanation(keptRequest({ number: 2 }))).toBeNull();
      expect(await requests.find('none')).toBeNull();
    });

    it('are there once, however often they are added', async () => {
      const { requests } = await stores.fresh();
      const all = added(Array.from({ length: 250 }, (_, i) => keptRequest({ number: i, id: `r${i}` })));
      await requests.add(all);
      await requests.add(all);
      expect(await requests.count({})).toBe(250);
      expect(await requests.count({}, 20)).toBe(20);
    });

    it('are paged from the latest to the oldest, across gateways, without a gap or a duplicate', async () => {
      const { requests } = await stores.fresh();
      const all = Array.from({ length: 60 }, (_, i) =>
        // Several ended in the same microsecond, and long pauses lie between others.
        keptRequest({ endedAt: 10 ** (i % 9) * 7, gateway: i % 2 === 0 ? 'g1' : 'G2', number: i, id: `r${i}` }),
      );
      await requests.add(added(all));
      const seen: KeptRequest[] = [];
      for (;;) {
        const page = await requests.list({}, seen.at(-1) ?? null, 7);
        seen.push(...page);
        if (page.length < 7) break;
      }
      expect(new Set(seen.map(({ id }) => id)).size).toBe(60);
      expect(seen).toHaveLength(60);
      expect(seen.map(({ endedAt }) => endedAt)).toEqual(all.map(({ endedAt }) => endedAt).sort((a, b) => b - a));
    });

    it('go with their workspace, as its events and decisions do, and the audit log stays', async () => {
      const { events, requests, resources } = await stores.fresh();
      const ref = { kind: 'Workspace', workspace: '', name: 'w' };
      const { uid } = await resources.change('alice', (tx) => tx.put(ref, { labels: {}, spec: {} }));
      const of = (workspace: string, from: number) =>
        Array.from({ length: 120 }, (_, i) =>
          keptRequest({ workspace, number: from + i, endedAt: 10 + i, id: `${workspace}${i}` }),
        );
      const all = [...of('w', 0), ...of('v', 200)];
      await requests.add(all.map((request) => ({ request, explanation: { replica: 'a' } })));
      for (const workspace of ['w', 'v'])
        await events.add({ kind: 'Endpoint', workspace, name: 'chat', uid: workspace }, 'normal', 'Ready', 'ready');
      await events.add({ ...ref, uid }, 'normal', 'Ready', 'ready');
      await requests.deleteOf('w', 69);
      expect([await requests.count({ workspaces: ['w'] }), await requests.count({ workspaces: ['v'] })]).toEqual([
        60, 120,
      ]);
      await resources.change('alice', (tx) => tx.markDeleted(ref));
      await resources.change('alice', (tx) => tx.remove(ref, uid));
      expect([await requests.count({ workspaces: ['w'] }), await requests.count({})]).toEqual([0, 120]);
      expect(await Promise.all([all[0]!, all[119]!, all[120]!].map((one) => requests.explanation(one)))).toEqual([
        ...[null, null, { replica: 'a' }],
      ]);
      expect((await events.list({})).map(({ workspace }) => workspace)).toEqual(['v']);
      expect((await resources.audit({ kind: 'Workspace' })).map(({ action }) => action)).toEqual([
        ...['remove', 'delete', 'create'],
      ]);
    });

    it('are filtered', async () => {
      const { requests } = await stores.fresh();
      const differing: Partial<KeptRequest>[] = [
        { workspace: 'other' },
        { endpoint: 'code' },
        { model: 'n' },
        { keyId: 'k2' },
        { sloClass: 'batch' },
        { replica: 'b' },
        { outcome: 'timeout' },
        { ttftUs: 2_000_000 },
        { ttftUs: 300_000 },
        { ttftUs: -1, durationUs: 20_000_000 },
        { id: 'x%_1' },
      ];
      await requests.add(
        added(differing.map((one, i) => keptRequest({ endedAt: 1000 * i, number: i, id: `r${i}`, ...one }))),
      );
      expect(await ids(requests, { workspaces: ['other', 'none'] })).toEqual(['r0']);
      expect(await ids(requests, { endpoint: 'code' })).toEqual(['r1']);
      expect(await ids(requests, { model: 'n' })).toEqual(['r2']);
      expect(await ids(requests, { keyId: 'k2' })).toEqual(['r3']);
      expect(await ids(requests, { sloClass: 'batch' })).toEqual(['r4']);
      expect(await ids(requests, { replica: 'b' })).toEqual(['r5']);
      expect(await ids(requests, { outcome: 'timeout' })).toEqual(['r6']);
      expect(await ids(requests, { outcome: 'failed' })).toEqual(['r6']);
      expect(await ids(requests, { minTtftUs: 1_500_000 })).toEqual(['r7']);
      expect(await ids(requests, { minTtftUs: 300_000 })).toEqual(['r8', 'r7']);
      expect(await ids(requests, { minDurationUs: 15_000_000 })).toEqual(['r9']);
      expect(await ids(requests, { idPrefix: 'x%' })).toEqual(['x%_1']);
      expect(await ids(requests, { idPrefix: 'x_' })).toEqual([]);
      expect(await ids(requests, { from: 2000, to: 4000 })).toEqual(['r3', 'r2']);
      expect(await ids(requests, { except: { gateway: 'g1', from: 2 } })).toEqual(['r1', 'r0']);
      expect(await requests.count({ from: 2000, outcome: 'ok' })).toBe(8);
      expect(await requests.find('r0', ['default'])).toBeNull();
      expect(await requests.find('r0', ['other'])).toMatchObject({ id: 'r0' });
    });

    it('are deleted from the oldest on, with their decisions, and no more than is asked for', async () => {
      const { db, requests } = await stores.fresh();
      const all = Array.from({ length: 10 }, (_, i) => keptRequest({ endedAt: i, number: i, id: `r${i}` }));
      await requests.add(all.map((request) => ({ request, explanation: { of: request.id } })));
      expect(await requests.deleteOldest(4, 100)).toBe(4);
      expect(await requests.deleteOldest(4, 6)).toBe(2);
      expect(await requests.deleteOldest(4, 6)).toBe(0);
      expect(await ids(requests, {})).toEqual(['r9', 'r8', 'r7', 'r6']);
      const left = await db.selectFrom('request_decisions').select('number').orderBy('number').execute();
      expect(left.map(({ number }) => number)).toEqual([6, 7, 8, 9]);
    });
  });
}
