import { sql } from 'kysely';
import { newKey } from '../../src/store/keys/new-key.fixture.js';
import { openStore, type Store } from '../../src/store/open-store.js';
import { keptRequest } from '../../src/store/requests/kept-request.fixture.js';

export const ENDPOINTS = 1000;
export const KEYS = 100_000;
export const REQUESTS = 200_000;

const DAY_US = 86_400 * 1e6;
const BATCH = 1000;

/** The endpoint that the others are copies of. */
export const FIRST_ENDPOINT = {
  apiVersion: 'twinyard/v1',
  kind: 'Endpoint',
  metadata: { name: 'endpoint', labels: { team: 'a' } },
  spec: { engine: { name: 'emulator' }, model: { name: 'qwen/qwen3-14b', serve_as: 'tiny' }, replicas: 0 },
};

/**
 * A store of a large installation: paused endpoints and keys, each with an audit entry, an event and a revision, keys also with
 * usage of two days, and requests of a day. Rows are copies of one that was created properly; the endpoint is there already.
 */
export async function fillStore(address: string): Promise<void> {
  const store = await openStore(address);
  await newKey(store, 'key', { limits: { '*': { tokens_per_day: 1_000_000 } } });
  await copied(store, 'Endpoint', 'endpoint', ENDPOINTS);
  await copied(store, 'ApiKey', 'key', KEYS);
  await fillUsage(store);
  await fillRequests(store);
  // As its own process does after a while.
  if (store.kind === 'postgres') await sql`analyze`.execute(store.db);
  await store.close();
}

/** Copies of a resource, with names from `name-000001` on. */
async function copied(store: Store, kind: string, name: string, count: number): Promise<void> {
  await store.exclusively(async (tx) => {
    const from = (await sql<{ value: string }>`select value from settings where name = 'resources.version'`.execute(tx))
      .rows[0]!.value;
    const first = sql.lit(Number(from));
    const numbers = sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)}) select i from n) as n`;
    const called = sql`${sql.lit(`${name}-`)} || substr(cast(1000000 + n.i as text), 2)`;
    const uid = sql`${sql.lit(kind.toLowerCase())} || substr(cast(1000000000000 + n.i as text), 2)`;
    const one = sql`kind = ${sql.lit(kind)} and name = ${sql.lit(name)}`;
    // Some keys are revoked, and some were never issued.
    const isKey = kind === 'ApiKey';
    const status = isKey
      ? sql`case when n.i % 20000 = 1 then '{"revoked_at":"2030-01-01T00:00:00.000Z"}' else r.status end`
      : sql`r.status`;
    const secret = isKey ? sql`case when n.i % 30000 = 1 then null else r.private_state end` : sql`r.private_state`;
    await sql`insert into resources select r.kind, r.workspace, ${called}, ${uid}, 1, ${first} + n.i, ${first} + n.i, r.spec,
      ${status}, ${secret}, r.labels, r.created_at + (n.i * 7919) % 100000, r.updated_at, null
      from ${numbers}, resources as r where ${one}`.execute(tx);
    await sql`insert into audit_log select ${first} + n.i, a.at, a.actor, a.action, a.kind, a.workspace, ${called}, ${uid}, null, a.after
      from ${numbers}, (select * from audit_log where ${one} limit 1) as a`.execute(tx);
    await sql`insert into resource_events select ${first} + n.i, ${uid}, ${sql.lit(kind)}, 'default', ${called}, 'normal', 'Created',
      'created', 1, 1700000000000, 1700000000000 from ${numbers}`.execute(tx);
    await sql`update settings set value = ${String(Number(from) + count)} where name = 'resources.version'`.execute(tx);
  });
}

async function fillUsage(store: Store): Promise<void> {
  const today = new Date().toISOString().slice(0, 10);
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  await store.exclusively(async (tx) => {
    for (const day of [today, yesterday]) {
      await sql`insert into usage (key_id, model, endpoint, day, outcome, requests, input_tokens, output_tokens, cost_nanos)
        select uid, 'tiny', 'default/endpoint-000001', ${day}, 'ok', 10, 1000, 100, 12345 from resources where kind = 'ApiKey'`.execute(
        tx,
      );
    }
  });
}

async function fillRequests(store: Store): Promise<void> {
  const now = Date.now() * 1000;
  const pad = (n: number) => String(n).padStart(6, '0');
  for (let from = 0; from < REQUESTS; from += BATCH) {
    const batch = Array.from({ length: BATCH }, (_, i) => {
      const number = from + i;
      const endedAt = now - DAY_US + Math.floor(((number + 1) * DAY_US) / REQUESTS);
      const request = keptRequest({
        ...{ endedAt, gateway: 'benched0', number, id: `request-${pad(number)}` },
        endpoint: `endpoint-${pad(1 + (number % ENDPOINTS))}`,
        model: 'tiny',
        keyId: `apikey${String(1 + (number % KEYS)).padStart(12, '0')}`,
        sloClass: number % 10 === 0 ? 'batch' : 'standard',
        replica: `endpoint-${pad(1 + (number % ENDPOINTS))}-${number % 4}`,
        outcome: number % 500 === 0 ? 'timeout' : 'ok',
        ttftUs: number % 1000 === 0 ? 6_000_000 : 30_000 + (number % 1000),
        durationUs: number % 2000 === 0 ? 20_000_000 : 900_000,
        facts: { ...keptRequest().facts, arrivedAt: endedAt - 900_000 },
      });
      return { request, explanation: null };
    });
    await store.requests.add(batch);
  }
}
