import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../../store/open-store.js';
import { keyWith, TestClock, TestGateway } from '../test-gateway.fixture.js';
import { limitsView } from './limits-view.js';

let store: Store;
let clock: TestClock;
beforeEach(async () => {
  store = await openStore(':memory:');
  clock = new TestClock();
});
afterEach(() => store.close());

const KEY = keyWith({
  '*': { requestsPerMinute: 10, tokensPerMinute: 1000, concurrent: 2, dollarsPerMonth: 0.3 },
  m: { tokensPerDay: 500, tokensPerMonth: 5000, dollarsPerDay: 0.2 },
});

async function seen(gateway: TestGateway, record = KEY) {
  const accounts = gateway.authority.book.ofKey(record);
  return limitsView(record, accounts, await gateway.authority.look([...accounts.values()]));
}

describe('the remaining limits', () => {
  it('are complete at first, then less by bookings, then by usage', async () => {
    const a = await new TestGateway(store, clock, { id: 'a' }).start(KEY);
    const fresh = await seen(a);
    expect(fresh).toMatchObject({ id: KEY.id, at: '2026-05-20T12:00:00.000Z' });
    expect(fresh.limits['*']!.concurrent).toEqual({ limit: 2, used: 0, left: 2, reset_s: null });
    const { reservation } = await a.reserve(120, { nanos: 100_000_000 });
    clock.pass(2);
    expect((await seen(a)).limits).toEqual({
      '*': {
        requests_per_minute: { limit: 10, used: 1, left: 9, reset_s: 59 },
        tokens_per_minute: { limit: 1000, used: 120, left: 880, reset_s: 59 },
        concurrent: { limit: 2, used: 1, left: 1, reset_s: null },
        dollars_per_month: { limit: 0.3, used: 0.1, left: 0.2, reset_s: 12 * 3600 - 2 + 11 * 86_400 },
      },
      m: {
        tokens_per_day: { limit: 500, used: 120, left: 380, reset_s: 12 * 3600 - 2 },
        tokens_per_month: { limit: 5000, used: 120, left: 4880, reset_s: 12 * 3600 - 2 + 11 * 86_400 },
        dollars_per_day: { limit: 0.2, used: 0.1, left: 0.1, reset_s: 12 * 3600 - 2 },
      },
    });
    a.ledger.settle(reservation!, 700, 50_000_000);
    const { '*': all, m } = (await seen(a)).limits;
    expect([all!.tokens_per_minute!.used, all!.concurrent!.used, m!.dollars_per_day!.left]).toEqual([700, 0, 0.15]);
    // Usage beyond a limit leaves 0, not a negative number.
    expect(m!.tokens_per_day).toMatchObject({ used: 700, left: 0 });
    clock.pass(62);
    await a.beat();
    expect((await seen(a)).limits['*']!.requests_per_minute).toEqual({ limit: 10, used: 0, left: 10, reset_s: 0 });
  });

  it('are empty for a key without limits, or one that is revoked', async () => {
    const [free, revoked] = [keyWith({}, 'key000000002'), { ...KEY, revokedAt: clock.ms }];
    const a = await new TestGateway(store, clock, { id: 'a' }).start(free, revoked);
    expect([(await seen(a, free)).limits, (await seen(a, revoked)).limits]).toEqual([{}, {}]);
  });

  it('include the usage of all gateways that share a store', async () => {
    const a = await new TestGateway(store, clock, { id: 'a' }).start(KEY);
    const b = await new TestGateway(store, clock, { id: 'b' }).start(KEY);
    await expect(seen(b)).rejects.toMatchObject({ status: 503, retryAfterS: 1 });
    await a.beat();
    await b.beat();
    expect([a.mode, b.mode]).toEqual(['shared', 'shared']);
    await a.reserve(100);
    await b.reserve(30);
    for (const one of [a, b]) {
      expect((await seen(one)).limits['*']).toMatchObject({
        requests_per_minute: { used: 2, left: 8 },
        tokens_per_minute: { used: 130 },
        concurrent: { used: 2, left: 0 },
      });
    }
    a.store.state = 'down';
    await expect(seen(a)).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
  });

  it('are not guessed by a gateway whose memory may be outdated, and reading them does not change that', async () => {
    const a = await new TestGateway(store, clock, { id: 'a' }).start(KEY);
    await a.reserve(100);
    clock.pass(9);
    await expect(seen(a)).rejects.toMatchObject({ status: 503 });
    await a.beat();
    expect((await seen(a)).limits['*']!.tokens_per_minute!.used).toBe(100);
  });
});
