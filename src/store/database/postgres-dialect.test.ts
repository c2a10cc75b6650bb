import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../open-store.js';
import { POSTGRES_PROGRAMS, startPostgres, type TestPostgres } from '../postgres.fixture.js';
import { startSilentProxy } from '../silent-proxy.fixture.js';
import { isStoreFailure } from './errors.js';
import { postgresError } from './postgres-dialect.js';

const CUT = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'twinyard'";

describe.skipIf(POSTGRES_PROGRAMS === null)('a store in PostgreSQL', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  it('reports a refused login and a missing database, and never the password', async () => {
    const url = await server.freshUrl();
    const wrong = url.replace(server.password, 'gue55ed');
    const refused = await openStore(wrong).catch((error) => error);
    expect(refused).toMatchObject({ code: 'STORE_PERMISSION', problem: 'refuses this user or password' });
    expect(String(refused.stack)).not.toContain('gue55ed');
    const absent = await openStore(url.replace('/postgres?', '/nowhere?')).catch((error) => error);
    expect(absent).toMatchObject({ code: 'STORE_MISSING', problem: 'has no such database' });
    expect(String(absent.stack)).not.toContain(server.password);
  });

  it('reports missing permissions', async () => {
    await server.run("create role guest login password 'guest'");
    const guest = (await server.freshUrl()).replace(`twinyard:${server.password}@`, 'guest:guest@');
    await expect(openStore(guest)).rejects.toMatchObject({ code: 'STORE_PERMISSION' });
  });

  it('leaves tables of other programs alone', async () => {
    const url = await server.freshUrl();
    const part = /search_path%3D(\w+)/.exec(url)![1]!;
    await server.run(`create table ${part}.customers (name text)`);
    const store = await openStore(url);
    await store.settings.set('a', '1');
    expect(await store.settings.get('a')).toBe('1');
    await store.close();
  });

  it('reconnects after its connections were closed', async () => {
    const store = await openStore(await server.freshUrl());
    const cut = store.exclusively(async (tx) => {
      await tx.insertInto('settings').values({ name: 'a', value: '1' }).execute();
      await server.run(CUT);
      await tx.insertInto('settings').values({ name: 'b', value: '1' }).execute();
    });
    await expect(cut).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    await store.settings.set('c', '1');
    expect([await store.settings.get('a'), await store.settings.get('c')]).toEqual([null, '1']);
    await store.close();
  });

  it('waits for no server that has fallen silent, and closes its connections to it', async () => {
    const url = await server.freshUrl();
    const proxy = await startSilentProxy(url);
    const store = await openStore(proxy.url(url), { queryMs: 500 });
    await store.settings.set('a', '1');
    void proxy.fallSilent();
    const silent = { code: 'STORE_UNREACHABLE' };
    await expect(store.settings.get('a')).rejects.toMatchObject(silent);
    await expect(store.exclusively(async () => {})).rejects.toMatchObject(silent);
    await store.close();
    await proxy.close();
  });

  it('ends queries that have no response when it is closed', async () => {
    const url = await server.freshUrl();
    const proxy = await startSilentProxy(url);
    const store = await openStore(proxy.url(url));
    const lost = proxy.fallSilent();
    const ended = expect(store.settings.get('a')).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    await lost;
    await store.close();
    await ended;
    await proxy.close();
  });

  it('is unreachable when the server is gone', async () => {
    const store = await openStore(await server.freshUrl());
    await server.stop();
    await expect(store.settings.get('a')).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    await expect(store.exclusively(async () => {})).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    await store.close();
  });
});

describe('errors of PostgreSQL', () => {
  it('report an address where no server listens', async () => {
    const refused = openStore('postgres://ann:s3cret@127.0.0.1:1/yard');
    await expect(refused).rejects.toMatchObject({
      code: 'STORE_UNREACHABLE',
      message: 'store postgres://ann@127.0.0.1:1/yard: cannot be reached (ECONNREFUSED)',
    });
  });

  it.each([
    ['ETIMEDOUT', '', 'STORE_UNREACHABLE'],
    ['08006', 'connection failure', 'STORE_UNREACHABLE'],
    ['57P03', 'the database system is starting up', 'STORE_UNREACHABLE'],
    ['53300', 'too many clients', 'STORE_UNREACHABLE'],
    [undefined, 'Connection terminated unexpectedly', 'STORE_UNREACHABLE'],
    [undefined, 'timeout exceeded when trying to connect', 'STORE_UNREACHABLE'],
    ['28000', 'no pg_hba.conf entry', 'STORE_PERMISSION'],
    ['42501', 'permission denied for schema', 'STORE_PERMISSION'],
    ['55P03', 'canceling statement due to lock timeout', 'STORE_LOCKED'],
    ['53100', 'disk full', 'STORE_FULL'],
  ])('%s (%s) is %s', (code, message, expected) => {
    const error = postgresError(Object.assign(new Error(message), { code }), 'postgres://db');
    expect(error).toMatchObject({ code: expected });
    expect(isStoreFailure(error)).toBe(true);
  });

  it('leave other errors unchanged', () => {
    for (const error of [new TypeError('a bug'), null]) expect(postgresError(error, 'postgres://db')).toBe(error);
  });
});
