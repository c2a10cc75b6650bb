import { Account } from '../../src/gateway/access/account/account.js';
import { AccessKey } from '../../src/gateway/access/keys/access-key.js';
import { Authority } from '../../src/gateway/access/limits/authority.js';
import { Ledger } from '../../src/gateway/access/limits/ledger.js';
import type { Reserving } from '../../src/gateway/access/limits/reservation.js';
import { openStore } from '../../src/store/open-store.js';
import { type BenchTable, best } from '../bench-table.js';
import { records } from './bench-keys.js';
import { us, usPerCall } from './measure.js';

const RESERVATIONS = 50_000;
const RUNS = 7;
const MOST_US = 2;

const LIMITS = {
  requestsPerMinute: 1e9,
  tokensPerMinute: 1e12,
  concurrent: 10,
  tokensPerMonth: 1e15,
  dollarsPerDay: 1e6,
};

/** The cost of a reservation in memory, booked on two accounts and settled. */
export async function reservations(table: BenchTable): Promise<void> {
  const store = await openStore(':memory:');
  const began = Date.now() - performance.now();
  const nowMs = () => began + performance.now();
  const authority = new Authority({ store, gatewayId: 'bench', nowMs });
  await authority.beat();
  const ledger = new Ledger(authority, {
    onStoreFailure: 'closed',
    nowMs,
    fault: (error) => {
      throw error;
    },
  });
  const keys = records.slice(0, 1000).map((record) => {
    const accounts = ['*', 'm'].map((scope): [string, Account] => [scope, new Account(record.id, scope, LIMITS)]);
    return new AccessKey(record, new Map(accounts));
  });
  const settling: Reserving = { reserved: (reservation) => ledger.settle(reservation!, 300, 45_000) };
  const reserve = (i: number) => ledger.reserve(keys[i % keys.length]!, 'm', 400, 60_000, settling);
  const cost = best(
    RUNS,
    () => usPerCall(0, RESERVATIONS, reserve),
    (value) => value,
  );
  table.report('reserve and settle on two accounts', us(cost), `<= ${MOST_US} us`, cost <= MOST_US);
  await store.close();
}
