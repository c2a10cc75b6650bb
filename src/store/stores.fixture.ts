import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { type OpenStoreOptions, openStore, type Store } from './open-store.js';
import { POSTGRES_PROGRAMS, startPostgres, type TestPostgres } from './postgres.fixture.js';

/** Opens stores for a test and closes them after it. */
export interface TestStores {
  readonly kind: Store['kind'];
  /** The address of a store that was never opened. */
  freshAddress(): Promise<string>;
  open(address: string, options?: OpenStoreOptions): Promise<Store>;
  fresh(): Promise<Store>;
}

/** Runs a suite once on SQLite and once on PostgreSQL, which is started for it and stopped after it. */
export function describeStores(suite: (stores: TestStores) => void): void {
  describe('SQLite', () => {
    let folder: string;
    let files = 0;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'twinyard-store-'));
    });
    afterAll(() => rmSync(folder, { recursive: true }));
    suite(testStores('sqlite', async () => join(folder, `store-${++files}.db`)));
  });

  const missing = POSTGRES_PROGRAMS === null;
  describe.skipIf(missing)(missing ? 'PostgreSQL: skipped, it is not installed here' : 'PostgreSQL', () => {
    let server: TestPostgres;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server?.stop());
    suite(testStores('postgres', () => server.freshUrl()));
  });
}

function testStores(kind: Store['kind'], freshAddress: () => Promise<string>): TestStores {
  const opened: Store[] = [];
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
  const open = async (address: string, options?: OpenStoreOptions) => {
    const store = await openStore(address, options);
    opened.push(store);
    return store;
  };
  return { kind, freshAddress, open, fresh: async () => open(await freshAddress()) };
}
