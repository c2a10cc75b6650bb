import { type Kysely, sql } from 'kysely';
import type { StoreDatabase } from './database.js';
import { firstTables } from './migrations/001-first-tables.js';
import { audioUsage } from './migrations/002-audio-usage.js';
import { revisions } from './migrations/003-revisions.js';
import { requests } from './migrations/004-requests.js';
import { creationOrder } from './migrations/005-creation-order.js';
import { labResults } from './migrations/006-lab-results.js';
import { usageOrder } from './migrations/007-usage-order.js';
import type { Migration } from './migrations/migration.js';
import type { StoreTables } from './schema.js';

/**
 * The whole history, the same for both databases. The version of a store is the number of these it has been through.
 */
export const MIGRATIONS: readonly Migration[] = [
  firstTables,
  audioUsage,
  revisions,
  requests,
  creationOrder,
  labResults,
  usageOrder,
];

/** The tables on the search path. */
export async function tableNames(db: Kysely<StoreTables>, kind: StoreDatabase['kind']): Promise<string[]> {
  const query =
    kind === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = any(current_schemas(false))`;
  return (await query.execute(db)).rows.map(({ name }) => name);
}

/** How many migrations a store has been through; null when its first one is another: it is of a version before the first release. */
export async function storeVersion(db: Kysely<StoreTables>): Promise<number | null> {
  const applied = await db.selectFrom('twinyard_migrations').select(['number', 'name']).orderBy('number').execute();
  return applied[0]?.name === MIGRATIONS[0]!.name ? applied.length : null;
}

/**
 * Migrates a store from `version`, 0 for a new one, to the current version, in a transaction that has the store to
 * itself.
 */
export async function migrate(
  db: Kysely<StoreTables>,
  database: StoreDatabase['kind'],
  version: number,
  now: number,
): Promise<void> {
  if (version === 0) {
    await db.schema
      .createTable('twinyard_migrations')
      .addColumn('number', 'integer', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('applied_at', 'bigint', (column) => column.notNull())
      .execute();
  }
  for (let i = version; i < MIGRATIONS.length; i++) {
    const { name, up } = MIGRATIONS[i]!;
    await up(db as unknown as Kysely<never>, database);
    await db
      .insertInto('twinyard_migrations')
      .values({ number: i + 1, name, applied_at: now })
      .execute();
  }
}
