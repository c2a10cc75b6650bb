import { Kysely, sql } from 'kysely';
import type { OpenStoreOptions, StoreDatabase, StoreTransaction } from './database/database.js';
import { newerStore, notADatabase, olderStore } from './database/errors.js';
import { MIGRATIONS, migrate, storeVersion, tableNames } from './database/migrations.js';
import type { QueryPatience } from './database/patient-client.js';
import type { StoreTables } from './database/schema.js';
import { StoreSettings } from './database/settings.js';
import { type StoreAddress, storeAddress } from './database/store-address.js';
import { Keys } from './keys/keys.js';
import { SavedResults } from './lab/saved-results.js';
import { KeptRequests } from './requests/kept-requests.js';
import { ResourceEvents } from './resources/resource-events.js';
import { Resources } from './resources/resources.js';
import { Usage } from './usage/usage.js';

export type { OpenStoreOptions, StoreTransaction } from './database/database.js';
export type { StoreTables } from './database/schema.js';

/** Resources, usage and settings, in an SQLite file or in PostgreSQL. */
export interface Store extends StoreDatabase {
  readonly resources: Resources;
  readonly events: ResourceEvents;
  readonly keys: Keys;
  readonly usage: Usage;
  readonly requests: KeptRequests;
  readonly lab: SavedResults;
  readonly settings: StoreSettings;
  close(): Promise<void>;
}

const LOCK_WAIT_MS = 5000;
/** More than any query here takes. Only a server that is away has no response by then. */
const QUERY_MS = 30_000;

/** Opens a store, creates it if it is new, and migrates its tables. */
export async function openStore(text: string, options: OpenStoreOptions = {}): Promise<Store> {
  const { create = true, lockWaitMs = LOCK_WAIT_MS, migrate = true, queryMs = QUERY_MS } = options;
  const address = storeAddress(text);
  // Tables may be large: their migration takes the time that it takes.
  const patience: QueryPatience = { queryMs: migrate ? null : queryMs };
  const connect = async () => {
    const dialect =
      address.kind === 'sqlite'
        ? await (await import('./database/sqlite-dialect.js')).sqliteDialect(address, { create, lockWaitMs })
        : await (await import('./database/postgres-dialect.js')).postgresDialect(address, patience);
    return new Kysely<StoreTables>({ dialect });
  };
  const writer = await connect();
  // Readers of a file need not wait for a long transaction; PostgreSQL has a pool of connections already.
  const reader = address.kind === 'sqlite' && address.path !== ':memory:' ? await connect() : writer;
  const store = new OpenStore(address, reader, writer, lockWaitMs);
  try {
    await (migrate ? store.bringUpToDate() : store.checkVersion());
  } catch (error) {
    await store.close();
    throw error;
  }
  patience.queryMs = queryMs;
  return store;
}

/** An arbitrary number that no other program is likely to lock: 'twinyard' on a phone keypad. */
const ADVISORY_LOCK = 89_469_273;

/** Long enough for any transaction here; a process that hangs inside one must not block all others for good. */
const LONGEST_PAUSE_IN_TRANSACTION_MS = 15_000;

class OpenStore implements Store {
  readonly settings: StoreSettings;
  readonly resources: Resources;
  readonly events: ResourceEvents;
  readonly keys: Keys;
  readonly usage: Usage;
  readonly requests: KeptRequests;
  readonly lab: SavedResults;

  constructor(
    private readonly opened: StoreAddress,
    readonly db: Kysely<StoreTables>,
    private readonly writer: Kysely<StoreTables>,
    private readonly lockWaitMs: number,
  ) {
    this.settings = new StoreSettings(this);
    this.resources = new Resources(this);
    this.events = new ResourceEvents(this);
    this.keys = new Keys(this);
    this.usage = new Usage(this);
    this.requests = new KeptRequests(this);
    this.lab = new SavedResults(this);
  }

  get kind(): Store['kind'] {
    return this.opened.kind;
  }

  get address(): string {
    return this.opened.shown;
  }

  exclusively<Result>(
    work: (tx: StoreTransaction) => Promise<Result>,
    lasts: 'past-power-cuts' | 'past-crashes' = 'past-power-cuts',
  ): Promise<Result> {
    const isOnDisk = lasts === 'past-power-cuts';
    if (this.kind === 'postgres') return this.writer.transaction().execute((tx) => this.locked(tx, isOnDisk, work));
    // SQLite's transactions begin with the write lock.
    if (isOnDisk) return this.writer.transaction().execute(work);
    return this.writer.connection().execute(async (connection) => {
      await sql`pragma synchronous = normal`.execute(connection);
      try {
        return await connection.transaction().execute(work);
      } finally {
        await sql`pragma synchronous = full`.execute(connection);
      }
    });
  }

  append<Result>(work: (tx: StoreTransaction) => Promise<Result>): Promise<Result> {
    if (this.kind === 'sqlite') return this.exclusively(work, 'past-crashes');
    return this.writer.transaction().execute(async (tx) => {
      await this.bound(tx, false);
      return work(tx);
    });
  }

  /** How long a transaction of PostgreSQL may wait, and whether its commit waits for the disk. */
  private async bound(tx: StoreTransaction, isOnDisk: boolean): Promise<void> {
    await sql`select
      set_config('lock_timeout', ${String(this.lockWaitMs)}, true),
      set_config('synchronous_commit', ${isOnDisk ? 'on' : 'off'}, true),
      set_config('idle_in_transaction_session_timeout', ${String(LONGEST_PAUSE_IN_TRANSACTION_MS)}, true)`.execute(tx);
  }

  /** PostgreSQL applies settings before it takes the lock. */
  private async locked<Result>(
    tx: StoreTransaction,
    isOnDisk: boolean,
    work: (tx: StoreTransaction) => Promise<Result>,
  ): Promise<Result> {
    await this.bound(tx, isOnDisk);
    await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK}::bigint)`.execute(tx);
    return work(tx);
  }

  async now(): Promise<number> {
    if (this.kind === 'sqlite') return Date.now();
    const now = sql<{ ms: number }>`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms`;
    return (await now.execute(this.db)).rows[0]!.ms;
  }

  async close(): Promise<void> {
    await this.db.destroy();
    if (this.writer !== this.db) await this.writer.destroy();
  }

  async checkVersion(): Promise<void> {
    await this.checkedVersion(this.db);
  }

  async bringUpToDate(): Promise<void> {
    const now = await this.now();
    // The writer first: only it finds out whether the file can be created.
    if ((await this.checkedVersion(this.writer)) === MIGRATIONS.length) return;
    // Another process may have migrated meanwhile: the version that counts is the one read with the lock held.
    await this.exclusively(async (tx) => migrate(tx, this.kind, await this.checkedVersion(tx), now));
  }

  private async checkedVersion(db: Kysely<StoreTables>): Promise<number> {
    const tables = await tableNames(db, this.kind);
    if (!tables.includes('twinyard_migrations')) {
      // A PostgreSQL database may serve several programs; a file has one.
      if (this.kind === 'sqlite' && tables.length > 0)
        throw notADatabase(this.address, "is another program's database");
      return 0;
    }
    const version = await storeVersion(db);
    if (version === null) throw olderStore(this.address);
    if (version > MIGRATIONS.length) throw newerStore(this.address, version, MIGRATIONS.length);
    return version;
  }
}
