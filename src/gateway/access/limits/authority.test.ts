import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../../store/open-store.js';
import { used } from '../../../store/usage/used.fixture.js';
import { keyWith, TestClock, TestGateway } from '../test-gateway.fixture.js';

const TEN = keyWith({ '*': { requestsPerMinute: 10 } });
const FIVE_SEATS = keyWith({ '*': { concurrent: 5 } });

let store: Store;
let clock: TestClock;
beforeEach(async () => {
  store = await openStore(':memory:');
  clock = new TestClock();
});
afterEach(() => store.close());

const gateway = (id: string, onStoreFailure: 'closed' | 'open' = 'closed') =>
  new TestGateway(store, clock, { id, onStoreFailure });

/** Lets time pass with a heartbeat of every gateway per second. */
async function live(seconds: number, ...gateways: TestGateway[]): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    clock.pass(1);
    for (const one of gateways) await one.beat();
  }
}

const rows = () => store.db.selectFrom('gateways').select(['id', 'mode']).orderBy('id').execute();

/** A gateway that shuts down cleanly. */
async function leave({ authority, ledger }: TestGateway): Promise<void> {
  await authority.beat();
  await ledger.drain();
  await authority.leave();
}

describe('one gateway', () => {
  it('keeps accounts in its memory from the first moment', async () => {
    const a = await gateway('a').start(TEN);
    expect(a.mode).toBe('local');
    const before = a.store.transactions;
    expect(await a.hammer(12)).toBe(10);
    expect(a.store.transactions).toBe(before);
  });

  it('is not affected by a short outage of the store', async () => {
    const a = await gateway('a').start(TEN);
    a.store.state = 'down';
    await live(8, a);
    expect(a.lastFailure).toMatchObject({ code: 'STORE_UNREACHABLE' });
    expect(await a.hammer(12)).toBe(10);
    a.store.state = 'up';
    await live(1, a);
    expect([a.mode, a.lastFailure, await a.hammer(2)]).toEqual(['local', null, 0]);
  });

  it('does not trust its memory when it has not reached the store for long: others may have taken over', async () => {
    const a = await gateway('a').start(TEN);
    a.store.state = 'down';
    await live(9, a);
    const { refusal } = await a.reserve();
    expect([refusal!.status, refusal!.retryAfterS]).toEqual([503, 1]);
    expect(a.ledger.refusedUnasked).toBe(1);
    // No other gateway took over: its memory counts again, including what was booked while it was cut off.
    a.store.state = 'up';
    await live(1, a);
    expect([a.mode, await a.hammer(12)]).toEqual(['local', 10]);
  });

  it('finds everything again after a restart', async () => {
    const limits = { '*': { requestsPerMinute: 10 }, m: { tokensPerDay: 100, dollarsPerMonth: 1 } };
    const key = keyWith(limits);
    const a = await gateway('a').start(key);
    const { reservation } = await a.reserve(60, { nanos: 600 });
    a.ledger.settle(reservation!, 50, 500);
    expect(await a.hammer(3, 10)).toBe(3);
    await leave(a);
    expect(await rows()).toEqual([]);
    clock.pass(1);
    const b = await gateway('b').start(key);
    expect(b.mode).toBe('local');
    const { any } = b.key();
    const ofModel = b.key().ofModel('m')!;
    expect([any!.requests.total, ofModel.day.tokens, ofModel.month.nanos]).toEqual([4, 80, 500]);
    expect((await b.reserve(21)).refusal!.message).toContain('tokens per day');
    // The requests that were under way when it closed are not any more.
    expect([...any!.seatsElsewhere]).toEqual([]);
  });

  it('loses no more than a second of memory in a crash', async () => {
    const a = await gateway('a').start(TEN);
    expect(await a.hammer(4)).toBe(4);
    await live(1, a);
    expect(await a.hammer(1)).toBe(1);
    clock.pass(10);
    const b = await gateway('b').start(TEN);
    expect([b.mode, b.key().any!.requests.total]).toEqual(['local', 4]);
  });

  it('never counts less spending after a crash than the usage tables', async () => {
    const key = keyWith({ '*': { tokensPerMonth: 1000 }, m: { tokensPerDay: 500, dollarsPerDay: 1 } });
    const a = await gateway('a').start(key);
    expect((await a.reserve(300, { nanos: 10 })).refusal).toBeNull();
    await live(1, a);
    const spent = { keyId: key.id, cachedTokens: 0, costNanos: 0 };
    await store.usage.fold('journal', [
      used({ ...spent, day: '2026-05-20', inputTokens: 300, outputTokens: 110, costNanos: 77 }),
      used({ ...spent, day: '2026-05-20', model: 'n', inputTokens: 5, outputTokens: 1 }),
      used({ ...spent, day: '2026-05-01', inputTokens: 80, outputTokens: 20 }),
      used({ ...spent, day: '2026-04-30', inputTokens: 8000, outputTokens: 2000 }),
      used({ ...spent, keyId: 'another', day: '2026-05-20', inputTokens: 8000 }),
    ]);
    clock.pass(10);
    const b = await gateway('b').start(key);
    const { any } = b.key();
    const ofModel = b.key().ofModel('m')!;
    expect([any!.month.tokens, any!.day.tokens]).toEqual([516, 416]);
    expect([ofModel.month.tokens, ofModel.day.tokens, ofModel.day.nanos]).toEqual([510, 410, 77]);
  });

  it('counts what a key has spent before it was limited', async () => {
    const key = keyWith({});
    const a = await gateway('a').start(key);
    expect(await a.reserve(5)).toEqual({ reservation: null, refusal: null });
    await store.usage.fold('journal', [used({ keyId: key.id, day: '2026-05-20', inputTokens: 90, outputTokens: 0 })]);
    const limited = { ...key, limits: { '*': { tokensPerDay: 100 } } };
    a.store.state = 'down';
    await expect(a.authority.open([limited])).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    expect(a.key(limited).any).toBeNull();
    a.store.state = 'up';
    await a.authority.open([limited]);
    expect((await a.reserve(11, { key: a.key(limited) })).refusal!.kind).toBe('out_of_budget');
    expect((await a.reserve(10, { key: a.key(limited) })).refusal).toBeNull();
  });

  it('forgets the accounts of keys that are revoked', async () => {
    const a = await gateway('a').start(TEN);
    expect(a.authority.book.size).toBe(1);
    await a.authority.open([{ ...TEN, revokedAt: clock.ms }]);
    expect(a.authority.book.size).toBe(0);
  });

  it('opens the accounts of keys that changed, and leaves all others alone', async () => {
    const [one, other] = [
      keyWith({ '*': { requestsPerMinute: 10 }, m: { concurrent: 1 } }, 'key000000001'),
      keyWith({ '*': { requestsPerMinute: 10 } }, 'key000000002'),
    ];
    const a = await gateway('a').start(one, other);
    await a.reserve(1, { key: a.key(one) });
    await a.reserve(1, { key: a.key(other) });
    const [account, unchanged] = [a.key(one).any, a.key(other).any];
    const changed = { ...one, limits: { '*': { requestsPerMinute: 1 }, n: { concurrent: 2 } } };
    await a.authority.open([changed], false);
    const key = a.key(changed);
    expect([a.authority.book.size, key.any, a.key(other).any]).toEqual([3, account, unchanged]);
    expect([key.ofModel('m'), key.ofModel('n')!.scope]).toEqual([null, 'n']);
    expect((await a.reserve(1, { key })).refusal!.message).toContain('1 requests per minute');
    await a.authority.open([{ ...changed, limits: {} }], false);
    expect(a.authority.book.size).toBe(1);
    await a.authority.open([{ ...other, revokedAt: clock.ms }], false);
    expect(a.authority.book.size).toBe(0);
  });
});

describe('a joining gateway', () => {
  it('admits no request before the accounts are in the store, and counts none twice', async () => {
    const a = await gateway('a').start(TEN);
    expect(await a.hammer(4)).toBe(4);
    const b = await gateway('b').start(TEN);
    expect([a.mode, b.mode]).toEqual(['local', 'joining']);
    const early = b.hammer(3);
    await live(1, a, b);
    expect([a.mode, b.mode, await early]).toEqual(['shared', 'shared', 3]);
    const [more, most] = await Promise.all([a.hammer(6), b.hammer(6)]);
    expect(more + most).toBe(3);
    expect(await rows()).toEqual([
      { id: 'a', mode: 'shared' },
      { id: 'b', mode: 'shared' },
    ]);
  });

  it('waits for a crashed gateway until its lease has expired', async () => {
    const a = await gateway('a').start(TEN);
    expect(await a.hammer(10)).toBe(10);
    await live(1, a);
    const b = await gateway('b').start(TEN);
    await live(9, b);
    expect(b.mode).toBe('joining');
    await live(1, b);
    expect([b.mode, await b.hammer(1)]).toEqual(['local', 0]);
    expect(await rows()).toEqual([{ id: 'b', mode: 'local' }]);
  });

  it('shares with another joining gateway, and both count recorded usage', async () => {
    const key = keyWith({ '*': { tokensPerDay: 100 } });
    const a = await gateway('a').start(key);
    const [b, c] = [await gateway('b').start(key), await gateway('c').start(key)];
    await store.usage.fold('journal', [used({ keyId: key.id, day: '2026-05-20', inputTokens: 90, outputTokens: 0 })]);
    await live(11, b, c);
    expect([a.mode, b.mode, c.mode]).toEqual(['local', 'shared', 'shared']);
    expect((await c.reserve(11)).refusal!.kind).toBe('out_of_budget');
    expect((await b.reserve(10)).refusal).toBeNull();
  });

  it('receives the accounts of requests under way, which end correctly there', async () => {
    const a = await gateway('a').start(FIVE_SEATS);
    const { reservation } = await a.reserve();
    expect(await a.hammer(2)).toBe(2);
    const b = await gateway('b').start(FIVE_SEATS);
    await live(1, a, b);
    expect(await b.hammer(5)).toBe(2);
    a.ledger.settle(reservation!, 1, 0);
    await a.ledger.drain();
    expect(await b.hammer(5)).toBe(1);
  });

  it('may come while accounts are opened', async () => {
    const a = await gateway('a').start(TEN);
    const b = await gateway('b').start(TEN);
    await live(1, a, b);
    const second = keyWith({ m: { tokensPerDay: 50 } }, 'key000000002');
    await store.usage.fold('journal', [
      used({ keyId: second.id, day: '2026-05-20', inputTokens: 45, outputTokens: 0 }),
    ]);
    await Promise.all([a.authority.open([TEN, second]), b.authority.open([TEN, second])]);
    const [one, two] = await Promise.all([a, b].map((each) => each.reserve(3, { key: each.key(second) })));
    expect([one!.refusal === null, two!.refusal === null].filter(Boolean)).toEqual([true]);
  });
});

describe('the last of several', () => {
  it('moves the accounts to its memory after half a minute alone', async () => {
    const key = keyWith({ '*': { tokensPerDay: 10 } });
    const [a, b] = [await gateway('a').start(key), await gateway('b').start(key)];
    await live(1, a, b);
    const { reservation } = await a.reserve(4);
    expect(await b.hammer(3)).toBe(3);
    await leave(b);
    await live(30, a);
    expect(a.mode).toBe('shared');
    await live(1, a);
    expect(a.mode).toBe('local');
    const before = a.store.transactions;
    a.ledger.settle(reservation!, 2, 0);
    expect(await a.hammer(9)).toBe(5);
    expect(a.store.transactions).toBe(before);
  });

  it('handles requests that wait for the store itself, once it has moved them', async () => {
    const [a, b] = [await gateway('a').start(TEN), await gateway('b').start(TEN)];
    await live(1, a, b);
    const { reservation } = await a.reserve();
    await leave(b);
    await live(30, a);
    // They arrive during the heartbeat that moves the accounts back.
    clock.pass(1);
    const beat = a.beat();
    a.ledger.refund(reservation!);
    const waiting = a.hammer(12);
    await beat;
    expect([a.mode, await waiting]).toEqual(['local', 10]);
  });

  it('does not count the seats of a dead gateway', async () => {
    const [a, b] = [await gateway('a').start(FIVE_SEATS), await gateway('b').start(FIVE_SEATS)];
    await live(1, a, b);
    expect([await b.hammer(4), await a.hammer(4)]).toEqual([4, 1]);
    await live(9, a);
    expect(await a.hammer(1)).toBe(0);
    await live(1, a);
    expect(await a.hammer(9)).toBe(4);
  });
});

describe('a gateway that is known to have ended', () => {
  it('is succeeded at once, with all its bookings', async () => {
    const a = await gateway('a').start(TEN);
    expect(await a.hammer(4)).toBe(4);
    await live(1, a);
    const waiting = await gateway('b').start(TEN);
    expect(waiting.mode).toBe('joining');
    await waiting.authority.leave();
    const c = await new TestGateway(store, clock, { id: 'c', dead: ['a'] }).start(TEN);
    expect([c.mode, await rows()]).toEqual(['local', [{ id: 'c', mode: 'local' }]]);
    expect(await c.hammer(12)).toBe(6);
  });
});

describe('a gateway that was considered dead', () => {
  it('joins again, with the unsaved part of its memory', async () => {
    const a = await gateway('a').start(TEN);
    a.store.state = 'down';
    await live(8, a);
    expect(await a.hammer(4)).toBe(4);
    const b = await gateway('b').start(TEN);
    await live(2, b);
    expect([b.mode, await b.hammer(3)]).toEqual(['local', 3]);
    a.store.state = 'up';
    await a.beat();
    expect(a.mode).toBe('joining');
    const waiting = a.reserve();
    await live(1, b, a);
    expect([a.mode, b.mode, (await waiting).refusal]).toEqual(['shared', 'shared', null]);
    expect(await a.hammer(5)).toBe(2);
  });

  it('is detected by the store before it can book there', async () => {
    const [a, b] = [await gateway('a').start(TEN), await gateway('b').start(TEN)];
    await live(1, a, b);
    await live(45, b);
    expect(b.mode).toBe('local');
    const waiting = a.hammer(12);
    await a.ledger.drain();
    expect([a.mode, await rows()]).toEqual(['joining', [{ id: 'b', mode: 'local' }]]);
    expect(await b.hammer(4)).toBe(4);
    await a.beat();
    await live(1, b, a);
    expect([a.mode, await waiting]).toEqual(['shared', 6]);
  });
});

describe('a hand-over that fails', () => {
  it('is made again, and nothing is booked meanwhile', async () => {
    const a = await gateway('a').start(TEN);
    expect(await a.hammer(4)).toBe(4);
    const b = await gateway('b').start(TEN);
    // The commit succeeded, but its reply got lost: whether the store has the accounts is unknown here.
    a.store.state = 'forgets to answer';
    await live(1, a, b);
    expect([a.mode, b.mode]).toEqual(['local', 'shared']);
    const waiting = a.reserve();
    expect(await b.hammer(3)).toBe(3);
    a.store.state = 'up';
    await live(1, a);
    expect([a.mode, (await waiting).refusal]).toEqual(['shared', null]);
    expect(await a.hammer(9)).toBe(2);
  });

  it('leaves the accounts where they are when the store did not even begin', async () => {
    const a = await gateway('a').start(TEN);
    expect(await a.hammer(4)).toBe(4);
    const b = await gateway('b').start(TEN);
    a.store.state = 'down';
    await live(1, a, b);
    expect([a.mode, b.mode, await a.hammer(2)]).toEqual(['local', 'joining', 2]);
    a.store.state = 'up';
    await live(1, a, b);
    expect([a.mode, b.mode, await b.hammer(9)]).toEqual(['shared', 'shared', 4]);
  });
});

it('distinguishes store failures from unexpected errors', async () => {
  const a = await gateway('a').start(TEN);
  a.store.state = 'down';
  await a.beat();
  expect([a.authority.storeFailures, a.faults]).toEqual([1, []]);
  a.store.state = 'up';
  await store.exclusively((tx) =>
    tx
      .insertInto('quota_accounts')
      .values({ account: `${TEN.id}/m`, state: 'nothing of ours', updated_at: 0 })
      .execute(),
  );
  await expect(a.authority.open([{ ...TEN, limits: { m: {} } }])).rejects.toThrow(SyntaxError);
  expect([a.authority.storeFailures, a.faults]).toEqual([2, [expect.any(SyntaxError)]]);
});
