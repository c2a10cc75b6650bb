import { AccessKey } from '../../src/gateway/access/keys/access-key.js';
import { KeyRing } from '../../src/gateway/access/keys/key-ring.js';
import { Authority } from '../../src/gateway/access/limits/authority.js';
import { newKey, putKey } from '../../src/store/keys/new-key.fixture.js';
import { openStore } from '../../src/store/open-store.js';
import { POSTGRES_PROGRAMS, startPostgres } from '../../src/store/postgres.fixture.js';
import { resourceRowOf } from '../../src/store/resources/resource-record.js';
import type { BenchTable } from '../bench-table.js';
import { ids, KEYS, records } from './bench-keys.js';
import { median, ms } from './measure.js';

const CHANGES = 31;
const ALL = 3;
const PER_STATEMENT = 400;
/** A whole refresh, including waits for the database. Requests are served meanwhile. */
const MOST_MS = 5;

/**
 * The time until a gateway has loaded one changed key of many, and all of them as at its start; each key has a limit.
 */
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
  const { id } = await newKey(store, 'first', { limits: { '*': { requests_per_minute: 60 } } });
  const first = (await store.resources.byUid(id))!;
  const rows = records.map(({ hash, id: uid }) =>
    resourceRowOf({ ...first, name: uid, uid, privateState: { hash, previous_hash: null } }),
  );
  await store.exclusively(async (tx) => {
    for (let from = 0; from < KEYS; from += PER_STATEMENT) {
      await tx
        .insertInto('resources')
        .values(rows.slice(from, from + PER_STATEMENT))
        .execute();
    }
  });
  const authority = new Authority({ store, gatewayId: 'bench', nowMs: () => Date.now() });
  const newRing = () =>
    new KeyRing(store.keys, 30, async ({ isAll, keys, removed }) => {
      await authority.open(keys, isAll, removed);
      return keys.map((record) => new AccessKey(record, authority.book.ofKey(record)));
    });
  const ring = newRing();
  await authority.beat();
  await ring.refresh();
  const one: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    await putKey(store, ids[i]!, { limits: { '*': { requests_per_minute: 100 + i } } });
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
