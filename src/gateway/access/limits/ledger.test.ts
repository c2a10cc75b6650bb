import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomStream } from '../../../kernel/random-stream.js';
import type { KeyLimits } from '../../../store/keys/key-record.js';
import { openStore, type Store } from '../../../store/open-store.js';
import { type Answer, keyWith, TestClock, TestGateway } from '../test-gateway.fixture.js';
import type { Reservation } from './reservation.js';

const stores: Store[] = [];
let clock: TestClock;
beforeEach(() => {
  clock = new TestClock();
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

async function freshStore(): Promise<Store> {
  const store = await openStore(':memory:');
  stores.push(store);
  return store;
}

interface Setup {
  limits: KeyLimits;
  onStoreFailure?: 'closed' | 'open';
}

/** Gateways on a store of their own, and in the mode that follows from their number. */
async function gateways(count: number, { limits, onStoreFailure }: Setup): Promise<TestGateway[]> {
  const store = await freshStore();
  const all: TestGateway[] = [];
  for (let i = 0; i < count; i++) {
    all.push(await new TestGateway(store, clock, { id: `g${i}`, onStoreFailure }).start(keyWith(limits)));
  }
  for (let i = 0; i < 2; i++) for (const one of all) await one.beat();
  expect(all.map(({ mode }) => mode)).toEqual(all.map(() => (count === 1 ? 'local' : 'shared')));
  return all;
}

const shown = ({ refusal }: Answer) => refusal && [refusal.kind, refusal.retryAfterS, refusal.message, refusal.headers];

describe('in memory and in the store', () => {
  type Step =
    | { what: 'reserve'; tokens: number; model: string }
    | { what: 'settle' | 'refund'; which: number; used: number }
    | { what: 'wait'; seconds: number };
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          what: fc.constant('reserve' as const),
          tokens: fc.nat(40),
          model: fc.constantFrom('m', 'n'),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          what: fc.constantFrom('settle' as const, 'refund' as const),
          which: fc.nat(9),
          used: fc.nat(60),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          what: fc.constant('wait' as const),
          seconds: fc.oneof(fc.nat(5), fc.constantFrom(30, 61, 7200)),
        }),
      },
    ),
    { maxLength: 40 },
  );
  const limits = {
    '*': { requestsPerMinute: 6, tokensPerDay: 400, concurrent: 4 },
    m: { tokensPerMinute: 90, dollarsPerMonth: 2e-7 },
  };

  /** Requests go to any of the gateways; together they must decide as one. */
  async function verdicts(all: readonly TestGateway[], taken: readonly Step[]): Promise<unknown[]> {
    const held: { one: TestGateway; reservation: Reservation }[] = [];
    const said: unknown[] = [];
    for (const [i, step] of taken.entries()) {
      if (step.what === 'wait') {
        clock.pass(step.seconds);
        // However long the wait: no gateway counts as dead.
        const { store } = all[0]!;
        await store.exclusively((tx) => tx.updateTable('gateways').set({ seen_at: clock.ms }).execute());
        for (const one of all) await one.beat();
      } else if (step.what === 'reserve') {
        const one = all[i % all.length]!;
        const response = await one.reserve(step.tokens, { model: step.model, nanos: step.tokens });
        said.push(shown(response));
        if (response.reservation !== null) held.push({ one, reservation: response.reservation });
      } else if (held.length > 0) {
        const [{ one, reservation }] = held.splice(step.which % held.length, 1) as [(typeof held)[0]];
        if (step.what === 'refund') one.ledger.refund(reservation);
        else one.ledger.settle(reservation, step.used, step.used);
        await one.ledger.drain();
      }
    }
    const seats = all.reduce((sum, one) => sum + one.key().any!.seats, 0);
    expect(seats).toBe(held.length);
    return said;
  }

  it('decides the same for the same requests', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const began = clock.ms;
        const inMemory = await verdicts(await gateways(1, { limits }), taken);
        clock.ms = began;
        const inStore = await verdicts(await gateways(2, { limits }), taken);
        expect(inStore).toEqual(inMemory);
        clock.ms = began;
      }),
      { numRuns: 40 },
    );
  });
});

describe.each([1, 2, 3])('a storm from 50 clients on %i gateways', (count) => {
  it('admits exactly as many requests as the limit allows', async () => {
    const all = await gateways(count, { limits: { '*': { requestsPerMinute: 100 }, m: { tokensPerMinute: 5000 } } });
    const clients = Array.from({ length: 50 }, async (_, i) => {
      let admitted = 0;
      for (let turn = 0; turn < 6; turn++) {
        const { refusal } = await all[i % count]!.reserve(10);
        if (refusal === null) admitted++;
        else expect([refusal.status, refusal.retryAfterS]).toEqual([429, 61]);
      }
      return admitted;
    });
    const admitted = await Promise.all(clients);
    expect(admitted.reduce((sum, one) => sum + one)).toBe(100);
  });

  it('never has more under way than the limit allows, nor more tokens booked, and ends with nothing under way', async () => {
    const all = await gateways(count, { limits: { '*': { concurrent: 7 }, m: { tokensPerDay: 900 } } });
    const random = randomStream(7, 'storm');
    let [underWay, most, spent] = [0, 0, 0];
    const client = async (one: TestGateway) => {
      for (let turn = 0; turn < 12; turn++) {
        const { reservation } = await one.reserve(10);
        if (reservation === null) continue;
        most = Math.max(most, ++underWay);
        await nextTurn();
        underWay--;
        const used = Math.floor(random.next() * 11);
        if (random.next() < 0.3) one.ledger.refund(reservation);
        else {
          one.ledger.settle(reservation, used, 0);
          spent += used;
        }
      }
    };
    await Promise.all(Array.from({ length: 50 }, (_, i) => client(all[i % count]!)));
    for (const { ledger } of all) await ledger.drain();
    expect(most).toBe(7);
    expect(spent).toBeLessThanOrEqual(900);
    const [row] = await stores
      .at(-1)!
      .db.selectFrom('quota_accounts')
      .select('state')
      .where('account', 'like', '%/m')
      .execute();
    const inMemory = all[0]!.key().ofModel('m')!;
    const inStore = count === 1 ? inMemory.day.tokens : JSON.parse(row!.state).day[1];
    expect(inStore).toBe(spent);
    for (const one of all) expect([one.key().any!.seats, one.key().ofModel('m')!.seats]).toEqual([0, 0]);
    if (count > 1) expect(JSON.parse(row!.state).seats).toEqual({});
  });
});

describe('gathering', () => {
  it('handles everything that arrived meanwhile in one transaction', async () => {
    const [one] = await gateways(2, { limits: { '*': { requestsPerMinute: 1000 } } });
    const before = one!.store.transactions;
    expect(await one!.hammer(50)).toBe(50);
    expect(one!.store.transactions - before).toBe(1);
    const first = one!.hammer(1);
    await nextTurn();
    const more = [one!.hammer(20), one!.hammer(20)];
    expect(await Promise.all([first, ...more])).toEqual([1, 20, 20]);
    expect(one!.store.transactions - before).toBe(3);
  });

  it('reuses reservations', async () => {
    for (const count of [1, 2]) {
      const [one] = await gateways(count, { limits: { '*': { requestsPerMinute: 2 } } });
      const first = (await one!.reserve()).reservation!;
      one!.ledger.settle(first, 1, 0);
      await one!.ledger.drain();
      const second = (await one!.reserve()).reservation!;
      expect(second).toBe(first);
      expect((await one!.reserve()).refusal).not.toBeNull();
      one!.ledger.refund(second);
      expect(() => one!.ledger.refund(second)).toThrow('not held');
    }
  });

  it('continues when a callback throws', async () => {
    const [one] = await gateways(2, { limits: { '*': { requestsPerMinute: 3 } } });
    const oops = new Error('oops');
    const bad = {
      reserved: () => {
        throw oops;
      },
    };
    one!.ledger.reserve(one!.key(), 'm', 1, 0, bad);
    expect(await one!.hammer(3)).toBe(2);
    expect(one!.faults).toEqual([oops]);
  });
});

describe('a store that fails', () => {
  const limits = { '*': { requestsPerMinute: 10, tokensPerDay: 100, concurrent: 9 } };

  it('closed: refuses with a retry time, and books afterwards what has ended meanwhile', async () => {
    const [one, other] = await gateways(2, { limits });
    const { reservation } = await one!.reserve(50);
    one!.store.state = 'down';
    const { refusal } = await one!.reserve(1);
    expect([refusal!.status, refusal!.retryAfterS, refusal!.kind]).toEqual([503, 1, 'unavailable']);
    one!.ledger.settle(reservation!, 20, 0);
    await one!.ledger.drain();
    expect([one!.ledger.refusedUnasked, one!.authority.storeFailures]).toEqual([1, 2]);
    one!.store.state = 'up';
    await one!.beat();
    await one!.ledger.drain();
    expect((await other!.reserve(81)).refusal!.kind).toBe('out_of_budget');
    expect((await other!.reserve(80)).refusal).toBeNull();
    expect([one!.key().any!.seats, [...other!.key().any!.seatsElsewhere]]).toEqual([0, []]);
  });

  it('open: admits every request, counts it, and books its usage when the store is back', async () => {
    const [one, other] = await gateways(2, { limits, onStoreFailure: 'open' });
    one!.store.state = 'down';
    const responses = await Promise.all(Array.from({ length: 15 }, () => one!.reserve(30)));
    expect(responses.map(({ refusal }) => refusal)).toEqual(responses.map(() => null));
    expect(one!.ledger.admittedUnasked).toBe(15);
    const [first, second, ...rest] = responses.map(({ reservation }) => reservation!);
    expect(first).toMatchObject({ limitRequests: -1, limitTokens: -1, isBooked: false });
    for (const reservation of rest) one!.ledger.refund(reservation);
    one!.ledger.settle(first!, 30, 0);
    one!.ledger.settle(second!, 25, 0);
    one!.store.state = 'up';
    await one!.beat();
    await one!.ledger.drain();
    expect((await other!.reserve(46)).refusal!.kind).toBe('out_of_budget');
    expect((await other!.reserve(45)).refusal).toBeNull();
  });

  it('open, single gateway: admits every request while its memory may be outdated', async () => {
    const [one] = await gateways(1, { limits, onStoreFailure: 'open' });
    clock.pass(9);
    expect(await one!.hammer(12)).toBe(12);
    expect(one!.ledger.admittedUnasked).toBe(12);
  });

  it('whose reply got lost: what it may have booked is not held here', async () => {
    const [one] = await gateways(2, { limits });
    one!.store.state = 'forgets to answer';
    expect((await one!.reserve(1)).refusal!.status).toBe(503);
    one!.store.state = 'up';
    expect((await one!.reserve(1)).refusal).toBeNull();
    expect(one!.key().any!.seats).toBe(1);
  });

  it.each(['closed', 'open'] as const)(
    '%s: no request waits long for a store that does not respond',
    async (onStoreFailure) => {
      const [one, other] = await gateways(2, { limits, onStoreFailure });
      let goOn = () => {};
      one!.store.held = new Promise((resolve) => {
        goOn = resolve;
      });
      const onItsWay = one!.reserve(40);
      await nextTurn();
      await nextTurn();
      const behind = one!.reserve(40);
      clock.pass(2);
      one!.ledger.sweep();
      const late = one!.reserve(7);
      clock.pass(1);
      one!.ledger.sweep();
      for (const { refusal, reservation } of await Promise.all([onItsWay, behind])) {
        expect(refusal?.status).toBe(onStoreFailure === 'closed' ? 503 : undefined);
        if (reservation !== null) one!.ledger.refund(reservation);
      }
      one!.store.held = null;
      goOn();
      // The request in flight was booked after all and is refunded; the last one gets its result.
      const { reservation } = await late;
      expect(reservation!.isBooked).toBe(true);
      await one!.ledger.drain();
      expect((await other!.reserve(94)).refusal!.kind).toBe('out_of_budget');
      expect((await other!.reserve(93)).refusal).toBeNull();
      expect([...other!.key().any!.seatsElsewhere]).toEqual([['g0', 1]]);
    },
  );

  it('does not hold a booking that fails after its caller has been notified', async () => {
    const [one] = await gateways(2, { limits });
    let goOn = () => {};
    one!.store.held = new Promise((resolve) => {
      goOn = resolve;
    });
    const waiting = one!.reserve(40);
    await nextTurn();
    await nextTurn();
    clock.pass(3);
    one!.ledger.sweep();
    expect((await waiting).refusal!.status).toBe(503);
    one!.store.state = 'forgets to answer';
    one!.store.held = null;
    goOn();
    await one!.ledger.drain();
    one!.store.state = 'up';
    expect([one!.key().any!.seats, one!.authority.storeFailures]).toEqual([0, 1]);
  });

  it('remembers a bounded number of requests admitted without a check', async () => {
    const [one] = await gateways(2, { limits: { '*': { tokensPerDay: 1e9 } }, onStoreFailure: 'open' });
    one!.store.state = 'down';
    const responses = await Promise.all(Array.from({ length: 10_050 }, () => one!.reserve(1)));
    for (const { reservation } of responses) one!.ledger.settle(reservation!, 1, 0);
    await one!.ledger.drain();
    one!.store.state = 'up';
    await one!.beat();
    await one!.ledger.drain();
    const rows = await stores.at(-1)!.db.selectFrom('quota_accounts').select('state').execute();
    expect(rows.map(({ state }) => JSON.parse(state).day[1])).toEqual([10_000]);
  });
});
