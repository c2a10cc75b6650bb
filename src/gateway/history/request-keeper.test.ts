import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FlipRecord } from '../../policy/flip/flip-record.js';
import { openStore, type Store } from '../../store/open-store.js';
import type { KeptRequests } from '../../store/requests/kept-requests.js';
import type { BoundedDecision } from '../decisions/decision-ring.js';
import { finishedRequest } from '../request/finished-request.fixture.js';
import { type KeptExplanation, unpackExplanation } from './kept-explanation.js';
import { type KeeperParts, RequestKeeper } from './request-keeper.js';
import { RequestRing } from './request-ring.js';

let store: Store;
let nowUs = 0;
let use = 0;
beforeEach(async () => {
  store = await openStore(':memory:');
  nowUs = 0;
  use = 0;
});
afterEach(() => store.close());

const HOUR_US = 3600 * 1e6;
const SETTINGS = { keepHours: 24, mostRows: 200_000 };

function keeperOf(
  ring: RequestRing,
  requests: KeeperParts['requests'] = store.requests,
  settings = SETTINGS,
  decisions: KeeperParts['past']['decisions'] = { lastOf: () => new Map() },
) {
  return new RequestKeeper({
    requests,
    run: 'run1',
    epochUs: 1e15,
    nowUs: () => nowUs,
    threadUse: () => use,
    settings,
    past: {
      requests: ring,
      refusals: { find: () => undefined },
      decisions,
      named: (name) => ({ workspace: 'default', name }),
    },
  });
}

const DECISION: BoundedDecision = {
  ...{ id: '', endpoint: 'chat', policy: 'weighted', policyHash: 'h', atUs: 0, inputTokens: 1, session: '' },
  ...{ blockSize: 16, blockCount: 1, replica: 'a', attempt: 0, rule: 'the only one', tied: 1, shadows: [] },
  ...{ replicas: [], replicaCount: 0 },
};

/** A store that is as the test says. */
const storeWith = (add: KeptRequests['add']): KeeperParts['requests'] => ({
  add,
  count: (filter) => store.requests.count(filter),
  deleteOldest: (most, until) => store.requests.deleteOldest(most, until),
});

function end(ring: RequestRing, count: number, change = {}): void {
  for (let i = 0; i < count; i++) {
    nowUs++;
    ring.ended(finishedRequest({ id: `r${ring.added + 1}`, endedUs: nowUs, ...change }));
  }
}

const kept = async () => (await store.requests.list({}, null, 10_000)).map(({ id }) => id);

it('copies requests that have ended into the store, each once', async () => {
  const ring = new RequestRing(1000);
  const keeper = keeperOf(ring);
  end(ring, 3);
  await keeper.turn();
  await keeper.turn();
  end(ring, 2);
  await keeper.turn();
  expect(await kept()).toEqual(['r5', 'r4', 'r3', 'r2', 'r1']);
  expect([keeper.written, keeper.dropped, keeper.problem]).toEqual([5, 0, null]);
});

it('writes less in a turn while the thread is busy, and all that is left when it is closed', async () => {
  const ring = new RequestRing(1000);
  const keeper = keeperOf(ring);
  end(ring, 1000);
  await keeper.turn();
  expect(keeper.written).toBe(500);
  use = 0.9;
  await keeper.turn();
  expect(keeper.written).toBe(600);
  await keeper.close();
  expect([keeper.written, keeper.dropped]).toEqual([1000, 0]);
});

it('writes later what a store that was away did not take, and counts what the memory lost meanwhile', async () => {
  const ring = new RequestRing(10);
  let isAway = true;
  const add: KeptRequests['add'] = async (rows) => {
    if (isAway) throw new Error('away');
    await store.requests.add(rows);
  };
  const keeper = keeperOf(ring, storeWith(add));
  end(ring, 4);
  await keeper.turn();
  expect([keeper.written, keeper.dropped, keeper.problem]).toEqual([0, 0, 'away']);
  end(ring, 9);
  isAway = false;
  await keeper.turn();
  expect([keeper.written, keeper.dropped, keeper.problem]).toEqual([10, 3, null]);
  expect((await kept()).at(-1)).toBe('r4');
});

it('gives up at its close when the store is away, and counts them', async () => {
  const ring = new RequestRing(10);
  const keeper = keeperOf(
    ring,
    storeWith(() => Promise.reject(new Error('away'))),
  );
  end(ring, 4);
  await keeper.close();
  expect([keeper.written, keeper.dropped]).toEqual([0, 4]);
});

it('deletes requests that are older than the setting, and the oldest where there are too many', async () => {
  const ring = new RequestRing(1000);
  const keeper = keeperOf(ring, store.requests, { keepHours: 1, mostRows: 100 });
  end(ring, 80);
  await keeper.turn();
  nowUs += 2 * HOUR_US;
  end(ring, 150);
  await keeper.turn();
  const left = await kept();
  expect(left).toHaveLength(100);
  expect([left[0], left.at(-1)]).toEqual(['r230', 'r131']);
});

it('keeps none while it is off, deletes what was kept, and begins again with requests that end later', async () => {
  const ring = new RequestRing(1000);
  const keeper = keeperOf(ring);
  end(ring, 3);
  await keeper.turn();
  keeper.configure({ ...SETTINGS, keepHours: 0 });
  nowUs += 1;
  end(ring, 2);
  await keeper.turn();
  expect(await kept()).toEqual([]);
  keeper.configure(SETTINGS);
  end(ring, 1);
  await keeper.turn();
  expect(await kept()).toEqual(['r6']);
  expect(keeper.dropped).toBe(0);
});

it('searches what would have flipped decisions for a bounded time of a turn, the slowest requests first', async () => {
  const ring = new RequestRing(10);
  const flip: FlipRecord = { change: null, bounds: {}, replicas: 1, eligible: 1, exhaustive: true };
  const findFlip = () => {
    nowUs += 3000;
    return flip;
  };
  const decisions: KeeperParts['past']['decisions'] = {
    lastOf: (ids) =>
      new Map([...ids].map((id) => [id, { decision: { ...DECISION, id, atUs: nowUs }, findFlip }] as const)),
  };
  const keeper = keeperOf(ring, store.requests, SETTINGS, decisions);
  use = 0.9;
  nowUs = 1000;
  for (const [id, firstTokenUs] of [
    ['fast', 10],
    ['slow', 900],
    ['slower', -1],
  ] as const) {
    ring.ended(finishedRequest({ id, arrivedUs: 0, firstTokenUs, endedUs: nowUs }));
  }
  await keeper.turn();
  const explained = async (id: string) =>
    unpackExplanation(id, (await store.requests.explanation((await store.requests.find(id))!)) as KeptExplanation);
  expect(await explained('slower')).toMatchObject({ id: 'slower', flip });
  for (const id of ['slow', 'fast'])
    expect(await explained(id)).toMatchObject({ id, flip: null, flipNotKept: true, replica: 'a' });
  use = 0;
  for (const id of ['later', 'latest']) ring.ended(finishedRequest({ id, arrivedUs: 0, endedUs: nowUs }));
  await keeper.turn();
  for (const id of ['later', 'latest']) expect(await explained(id)).toMatchObject({ id, flip });
});

it('writes no text of a request into the file of the store', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-keeper-'));
  const path = join(folder, 'store.db');
  const own = await openStore(path);
  const ring = new RequestRing(10);
  const keeper = keeperOf(ring, own.requests);
  end(ring, 1, { session: 'planted-1', tenant: 'planted-2', recordedBlocks: 'planted-3', id: 'seen-id' });
  await keeper.turn();
  await own.close();
  const bytes = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join();
  // Without the whole file in the message of a failure.
  expect(bytes.includes('seen-id')).toBe(true);
  expect(bytes.includes('planted')).toBe(false);
  rmSync(folder, { recursive: true });
});
