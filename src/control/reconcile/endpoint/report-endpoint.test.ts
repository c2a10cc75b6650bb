import { expect, test } from 'vitest';
import { FakePlane } from '../fake-plane.fixture.js';
import type { ModelState } from '../models/model-state.js';
import { EndpointMemory } from './endpoint-memory.js';
import { reportStatus } from './report-endpoint.js';

const CHAT = { kind: 'Endpoint', workspace: 'default', name: 'chat' };

test('reports a stalled download in the status as it goes on, and as an event once', async () => {
  const plane = await FakePlane.open();
  const { store, timing } = plane;
  await plane.chat('  replicas: 0\n');
  const memory = new EndpointMemory(null);
  const report = async (bytes: number, quietMs: number) => {
    const model: ModelState = { state: 'fetching', bytes, total: 2 ** 30, quietMs };
    const desired = { replicas: 1, specHash: null, maxSurge: 1, maxUnavailable: 0 };
    const record = (await store.resources.get(CHAT))!;
    const parts = { store, timing, urlOf: () => 'u' };
    await reportStatus(
      record,
      { desired, engine: null, model, download: null, blocker: null },
      [],
      null,
      parts,
      memory,
    );
    return (await plane.status()).replace('ModelDownloading 0: ', '');
  };
  const warnings = async () =>
    (await store.events.list(CHAT))
      .filter(({ type }) => type === 'warning')
      .map(({ count, message, reason }) => [reason, message, count]);
  expect(await report(2 ** 29, 0)).toBe('50 % of 1.0 GiB');
  expect(await warnings()).toEqual([]);
  expect(await report(2 ** 29, 10_000)).toBe('50 % of 1.0 GiB; no data for 10 s');
  expect(await report(2 ** 29, 20_400)).toBe('50 % of 1.0 GiB; no data for 20 s');
  const stalled = 'the download has stalled: no data from the registry';
  expect(await warnings()).toEqual([['ModelDownloading', stalled, 1]]);
  await report(2 ** 29 + 1, 0);
  await report(2 ** 29 + 1, 10_000);
  expect(await warnings()).toEqual([['ModelDownloading', stalled, 2]]);
});
