import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newKey, putKey } from '../../store/keys/new-key.fixture.js';
import { openStore, type Store } from '../../store/open-store.js';
import { type AccessConfig, GATEWAY_DEFAULTS } from '../config/gateway-config.js';
import { Access } from './access.js';
import { AccessKey } from './keys/access-key.js';
import type { Refusal } from './limits/refusal.js';
import type { Reservation } from './limits/reservation.js';
import { FlakyStore, keyWith, TestClock, TestGateway } from './test-gateway.fixture.js';

const CONFIG: AccessConfig = { ...GATEWAY_DEFAULTS.access, keys: 'required', defaultOutputTokens: 100 };
const PRICES = [{ model: 'm', input: 1, cachedInput: 0.5, output: 2 }];

let store: Store;
let flaky: FlakyStore;
let clock: TestClock;
let access: Access | null = null;
const warnings: string[] = [];

beforeEach(async () => {
  vi.useFakeTimers();
  store = await openStore(':memory:');
  flaky = new FlakyStore(store);
  clock = new TestClock();
  warnings.length = 0;
});
afterEach(async () => {
  await access?.close();
  access = null;
  await store.close();
  vi.useRealTimers();
});

async function opened(config: Partial<AccessConfig> = {}, pause = async (_ms: number) => {}): Promise<Access> {
  access = await Access.open({
    store: flaky,
    config: { ...CONFIG, ...config },
    prices: PRICES,
    nowMs: () => clock.ms,
    storeNow: async () => clock.ms,
    warn: (message) => warnings.push(message),
    pause,
  });
  return access;
}

/** A key of the store, as the check of a request returns it. */
async function holder(name: string, spec: Parameters<typeof newKey>[2] = {}): Promise<{ id: string; text: string }> {
  const { id, secret } = await newKey(store, name, spec);
  return { id, text: secret };
}

function admitted(of: Access, text: string): AccessKey {
  const key = of.check(`Bearer ${text}`, undefined, '10.0.0.1');
  expect(key).toBeInstanceOf(AccessKey);
  return key as AccessKey;
}

/** The result on a single gateway, which is synchronous. */
function reserved(of: Access, key: AccessKey, model: string, input: number, output: number | null) {
  const responses: { reservation: Reservation | null; refusal: Refusal | null }[] = [];
  of.reserve(key, model, input, output, {
    reserved: (reservation, refusal) => responses.push({ reservation, refusal }),
  });
  expect(responses.length).toBe(1);
  return responses[0]!;
}

describe('access', () => {
  it('admits requests with a key up to its limits, and counts their usage', async () => {
    const { text, id } = await holder('app', {
      limits: { '*': { tokens_per_day: 500 }, m: { dollars_per_day: 0.001 } },
    });
    const one = await opened();
    const key = admitted(one, text);
    expect([key.id, key.tenant]).toEqual([id, 'app']);
    const { reservation } = reserved(one, key, 'm', 200, 50);
    expect(reservation).toMatchObject({ tokens: 250, nanos: 300_000 });
    expect(reserved(one, key, 'm', 160, null).refusal!.message).toContain('counts for 260, and 250 is left');
    one.settle(reservation!, { inputTokens: 200, cachedTokens: 100, outputTokens: 20 });
    const ofModel = key.ofModel('m')!;
    expect([key.any!.day.tokens, ofModel.day.nanos]).toEqual([220, 100_000 + 50_000 + 40_000]);
    const again = reserved(one, key, 'm', 160, null);
    expect(again.refusal).toBeNull();
    one.refund(again.reservation!);
    expect([key.any!.day.tokens, key.any!.seats]).toEqual([220, 0]);
    expect(one.counts).toEqual({
      mode: 'local',
      keys: 1,
      wrongKeys: 0,
      wrongKeysLimited: 0,
      limited: {
        requestsPerMinute: 0,
        tokensPerMinute: 0,
        concurrent: 0,
        tokensPerDay: 1,
        tokensPerMonth: 0,
        dollarsPerDay: 0,
        dollarsPerMonth: 0,
      },
      storeFailures: 0,
      refusedUnasked: 0,
      admittedUnasked: 0,
    });
  });

  it('reports the remaining limits of a key, and of no other', async () => {
    const { id, text } = await holder('app', { limits: { '*': { tokens_per_day: 500 } } });
    const one = await opened();
    reserved(one, admitted(one, text), 'm', 40, 60);
    const { limits } = (await one.limitsOf(id))!;
    expect(limits).toEqual({ '*': { tokens_per_day: { limit: 500, used: 100, left: 400, reset_s: 43_200 } } });
    expect(await one.limitsOf('nobody')).toBeNull();
  });

  it('has nothing to reserve for a key without limits', async () => {
    const { text } = await holder('app');
    const one = await opened();
    expect(reserved(one, admitted(one, text), 'm', 1e9, null)).toEqual({ reservation: null, refusal: null });
  });

  it('loads new keys within the refresh interval, or at once', async () => {
    const one = await opened({ refreshMs: 700 });
    const first = await holder('first');
    expect(one.check(undefined, first.text, '10.0.0.1')).toMatchObject({ status: 401 });
    await vi.advanceTimersByTimeAsync(700);
    admitted(one, first.text);
    const second = await holder('second', { limits: { '*': { requests_per_minute: 1 } } });
    await one.refresh();
    const key = admitted(one, second.text);
    expect(reserved(one, key, 'm', 1, 1).refusal).toBeNull();
    expect(reserved(one, key, 'm', 1, 1).refusal!.status).toBe(429);
    // Another limit, the same account.
    await putKey(store, 'second', { limits: { '*': { requests_per_minute: 2 } } });
    await one.refresh();
    const renewed = admitted(one, second.text);
    expect(reserved(one, renewed, 'm', 1, 1).refusal).toBeNull();
    expect(reserved(one, renewed, 'm', 1, 1).refusal!.status).toBe(429);
    expect(one.counts).toMatchObject({ keys: 2, wrongKeys: 1, limited: { requestsPerMinute: 2 } });
  });

  it('keeps its keys while the store is unavailable, and counts the failures', async () => {
    const { text } = await holder('app');
    const one = await opened({ refreshMs: 1000 });
    const { version } = store.keys;
    store.keys.version = () => Promise.reject(new Error('gone'));
    await vi.advanceTimersByTimeAsync(2000);
    expect(one.counts.storeFailures).toBe(2);
    admitted(one, text);
    store.keys.version = version;
  });

  it('sends a heartbeat every second, retries a failed one, and removes its row when it is closed', async () => {
    const one = await opened();
    const seen = async () =>
      (await store.db.selectFrom('gateways').select('seen_at').execute()).map((row) => row.seen_at);
    clock.pass(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await seen()).toEqual([clock.ms]);
    flaky.state = 'down';
    await vi.advanceTimersByTimeAsync(2000);
    expect(one.counts.storeFailures).toBe(2);
    flaky.state = 'up';
    clock.pass(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await seen()).toEqual([clock.ms]);
    await one.close();
    access = null;
    const before = flaky.transactions;
    expect(await seen()).toEqual([]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(flaky.transactions).toBe(before);
  });

  it('does not make requests wait for a heartbeat that hangs', async () => {
    const { text } = await holder('app', { limits: { '*': { requests_per_minute: 5 } } });
    const one = await opened();
    let goOn = () => {};
    flaky.held = new Promise((resolve) => {
      goOn = resolve;
    });
    await vi.advanceTimersByTimeAsync(3000);
    clock.pass(3);
    expect(reserved(one, admitted(one, text), 'm', 1, 1).refusal).toBeNull();
    clock.pass(6);
    expect(reserved(one, admitted(one, text), 'm', 1, 1).refusal!.status).toBe(503);
    flaky.held = null;
    goOn();
    await vi.advanceTimersByTimeAsync(0);
    expect(one.counts).toMatchObject({ mode: 'local', refusedUnasked: 1, storeFailures: 0 });
  });

  it('is open only once the others have handed over', async () => {
    const key = keyWith({ '*': { requestsPerMinute: 10 } });
    const other = await new TestGateway(store, clock, { id: 'other' }).start(key);
    const pauses: number[] = [];
    const one = await opened({}, async (ms) => {
      pauses.push(ms);
      if (pauses.length === 3) await other.beat();
    });
    expect([one.counts.mode, other.mode, pauses]).toEqual(['shared', 'shared', [100, 100, 100]]);
    expect(warnings).toEqual([]);
    await other.authority.leave();
  });

  it('reports why it does not start yet, after a gateway that crashed', async () => {
    await new TestGateway(store, clock, { id: 'dead' }).start(keyWith({ '*': { requestsPerMinute: 10 } }));
    const one = await opened({}, async (ms) => clock.pass(ms / 1000));
    expect(one.counts.mode).toBe('local');
    expect(warnings).toEqual([expect.stringContaining('another gateway holds the accounts of limits')]);
  });

  it('warns once that a model has no price, when a key has a budget in dollars', async () => {
    const [paid, free] = [
      await holder('paid', { limits: { '*': { dollars_per_month: 1 } } }),
      await holder('free', { limits: { '*': { tokens_per_day: 1000 } } }),
    ];
    const one = await opened();
    reserved(one, admitted(one, free.text), 'unpriced', 1, 1);
    reserved(one, admitted(one, paid.text), 'm', 1, 1);
    expect(warnings).toEqual([]);
    expect(reserved(one, admitted(one, paid.text), 'unpriced', 1, 1).reservation).toMatchObject({ nanos: 0 });
    reserved(one, admitted(one, paid.text), 'unpriced', 1, 1);
    expect(warnings).toEqual([expect.stringContaining("'unpriced' has no price")]);
  });

  it('applies a new configuration', async () => {
    const { text } = await holder('app', { limits: { '*': { tokens_per_day: 1000 } } });
    const one = await opened({ wrongKeysPerMinute: 1 });
    expect(one.check(undefined, 'wrong', '10.0.0.9')).toMatchObject({ status: 401 });
    expect(one.check(undefined, 'wrong', '10.0.0.9')).toMatchObject({ status: 429 });
    one.configure(
      { ...CONFIG, wrongKeysPerMinute: 9, defaultOutputTokens: 7, onStoreFailure: 'open', refreshMs: 50 },
      [],
    );
    expect(one.check(undefined, 'wrong', '10.0.0.9')).toMatchObject({ status: 401 });
    const { reservation } = reserved(one, admitted(one, text), 'm', 3, null);
    expect(reservation).toMatchObject({ tokens: 10, nanos: 0 });
    const later = await holder('later');
    await vi.advanceTimersByTimeAsync(50);
    admitted(one, later.text);
    clock.pass(9);
    expect(reserved(one, admitted(one, text), 'm', 3, null).reservation).toMatchObject({ isBooked: false });
    expect(one.counts.admittedUnasked).toBe(1);
  });
});
