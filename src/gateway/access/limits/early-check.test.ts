import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../../store/open-store.js';
import { keyWith, TestClock, TestGateway } from '../test-gateway.fixture.js';
import { EarlyCheck } from './early-check.js';
import type { Refusal } from './refusal.js';

let store: Store;
let clock: TestClock;
beforeEach(async () => {
  store = await openStore(':memory:');
  clock = new TestClock();
});
afterEach(() => store.close());

function checkOf(one: TestGateway): EarlyCheck {
  const fault = (error: unknown) => one.faults.push(error);
  return new EarlyCheck(one.authority, { limited: one.ledger.limited, nowMs: () => clock.ms, fault });
}

const checked = (early: EarlyCheck, one: TestGateway) =>
  new Promise<Refusal | null>((resolve) => early.check(one.key().any!, resolve));

/** Two gateways that keep the accounts of a key in the store. */
async function shared(limits: Parameters<typeof keyWith>[0]): Promise<[TestGateway, TestGateway]> {
  const both = ['a', 'b'].map((id) => new TestGateway(store, clock, { id })) as [TestGateway, TestGateway];
  for (const one of both) await one.start(keyWith(limits));
  for (const one of [...both, ...both]) await one.beat();
  expect(both.map(({ mode }) => mode)).toEqual(['shared', 'shared']);
  return both;
}

describe('the check before a body is read', () => {
  it('refuses as a reservation would, and books nothing', async () => {
    const one = await new TestGateway(store, clock, { id: 'a' }).start(keyWith({ '*': { requestsPerMinute: 1 } }));
    const early = checkOf(one);
    for (let i = 0; i < 5; i++) expect(await checked(early, one)).toBeNull();
    expect((await one.reserve()).refusal).toBeNull();
    const [before, reserved] = [await checked(early, one), (await one.reserve()).refusal];
    expect([before!.message, before!.headers, before!.retryAfterS]).toEqual([
      reserved!.message,
      reserved!.headers,
      reserved!.retryAfterS,
    ]);
    expect(one.ledger.limited.requestsPerMinute).toBe(2);
    clock.pass(61);
    await one.beat();
    expect(await checked(early, one)).toBeNull();
  });

  it('refuses a key that is over its tokens, and leaves a key that has some left to the reservation', async () => {
    const one = await new TestGateway(store, clock, { id: 'a' }).start(keyWith({ '*': { tokensPerDay: 10 } }));
    const early = checkOf(one);
    const { reservation } = await one.reserve(10);
    expect(await checked(early, one)).toBeNull();
    one.ledger.settle(reservation!, 11, 0);
    expect((await checked(early, one))!.message).toMatch(/tokens per day \(all models\) is reached: 0 is left/);
  });

  it('sees what other gateways have booked, with one look into the store for all that wait', async () => {
    const [a, b] = await shared({ '*': { concurrent: 1 } });
    const early = checkOf(a);
    expect(await checked(early, a)).toBeNull();
    const { reservation } = await b.reserve();
    const before = a.store.transactions;
    const refusals = await Promise.all(Array.from({ length: 50 }, () => checked(early, a)));
    expect(refusals.every((refusal) => refusal?.limit?.name === 'concurrent')).toBe(true);
    expect(a.store.transactions - before).toBeLessThanOrEqual(2);
    b.ledger.refund(reservation!);
    await b.ledger.drain();
    expect(await checked(early, a)).toBeNull();
  });

  it('lets requests through while the store fails or does not respond: the reservation decides', async () => {
    const [a] = await shared({ '*': { requestsPerMinute: 1 } });
    const early = checkOf(a);
    await a.reserve();
    a.store.state = 'down';
    expect(await checked(early, a)).toBeNull();
    a.store.state = 'up';
    let release = () => {};
    a.store.held = new Promise((resolve) => {
      release = resolve;
    });
    const hanging = checked(early, a);
    early.sweep();
    clock.pass(3);
    early.sweep();
    expect(await hanging).toBeNull();
    a.store.held = null;
    release();
    expect(await checked(early, a)).not.toBeNull();
    expect(a.faults).toEqual([]);
  });

  it('reports what a request throws, and goes on with the others', async () => {
    const [a] = await shared({ '*': { requestsPerMinute: 1 } });
    const early = checkOf(a);
    early.check(a.key().any!, () => {
      throw new Error('a bug');
    });
    expect(await checked(early, a)).toBeNull();
    expect(a.faults).toEqual([new Error('a bug')]);
  });
});
