import { AccessKey } from '../../src/gateway/access/keys/access-key.js';
import { KeyRing } from '../../src/gateway/access/keys/key-ring.js';
import { Authority } from '../../src/gateway/access/limits/authority.js';
import { rowOf } from '../../src/store/keys/key-row.js';
import { openStore } from '../../src/store/open-store.js';
import { POSTGRES_PROGRAMS, startPostgres } from '../../src/store/postgres.fixture.js';
import type { BenchTable } from '../bench-table.js';
import { ids, KEYS, records } from './bench-keys.js';
import { median, ms } from './measure.js';

const CHANGES = 31;
const ALL = 3;
const PER_STATEMENT = 400;
/** The whole of a refresh, with what waits for the database. Requests are served meanwhile. */
const MOST_MS = 5;

/** What it takes a gateway to learn of one changed key among many, and of all of them as at its start; each key has a limit. */
export async function keyRefresh(table: BenchTable): Promise<void> {
  await measured(table, 'SQLite', ':memory:');
  if (POSTGRES_PROGRAMS === null) {
    table.report('PostgreSQL is not installed here', '', '', null);
    return;
  }
  const server = await startPostgres();
  try {
    await measured(table, 'PostgreSQL', await server.freshUrl());
  } finally {
    await server.stop();
  }
}

async function measured(table: BenchTable, name: string, address: string): Promise<void> {
  const store = await openStore(address);
  const rows = records.map((record) => rowOf({ ...record, limits: { '*': { requestsPerMinute: 60 } } }, 0));
  await store.exclusively(async (tx) => {
    for (let from = 0; from < KEYS; from += PER_STATEMENT) {
      await tx
        .insertInto('api_keys')
        .values(rows.slice(from, from + PER_STATEMENT))
        .execute();
    }
  });
  const authority = new Authority({ store, gatewayId: 'bench', nowMs: () => Date.now() });
  const newRing = () =>
    new KeyRing(store.keys, 30, async (found, isAll) => {
      await authority.open(found, isAll);
      return found.map((record) => new AccessKey(record, authority.book.ofKey(record)));
    });
  const ring = newRing();
  await store.keys.update(ids[0]!, { name: 'first' });
  await authority.beat();
  await ring.refresh();
  const one: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    await store.keys.update(ids[i]!, { limits: { '*': { requestsPerMinute: 100 + i } } });
    one.push(await timed(() => ring.refresh()));
  }
  const all: number[] = [];
  for (let i = 0; i < ALL; i++) all.push(await timed(() => newRing().refresh()));
  await store.close();
  table.report(`${name}: one of ${KEYS} keys has changed`, ms(median(one)), `<= ${MOST_MS} ms`, median(one) <= MOST_MS);
  table.report(`${name}: all ${KEYS} are read`, ms(median(all)), '', null);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
