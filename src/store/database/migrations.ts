import { type Kysely, sql } from 'kysely';
import type { StoreDatabase } from './database.js';
import { keysAndUsage } from './migrations/001-keys-and-usage.js';
import { resources } from './migrations/002-resources.js';
import { keyVersions } from './migrations/003-key-versions.js';
import type { Migration } from './migrations/migration.js';
import type { StoreTables } from './schema.js';

/**
 * The whole history, the same for both databases. The version of a store is the number of these it has been through.
 */
export const MIGRATIONS: readonly Migration[] = [keysAndUsage, resources, keyVersions];

/** The tables on the search path. */
export async function tableNames(db: Kysely<StoreTables>, kind: StoreDatabase['kind']): Promise<string[]> {
  const query =
    kind === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = any(current_schemas(false))`;
  return (await query.execute(db)).rows.map(({ name }) => name);
}

/** The number of migrations that a store has been through; it must have been through at least one. */
export async function storeVersion(db: Kysely<StoreTables>): Promise<number> {
  const { version } = await db
    .selectFrom('twinyard_migrations')
    .select(({ fn }) => fn.max('number').as('version'))
    .executeTakeFirstOrThrow();
  return version;
}

/**
 * Migrates a store from `version`, 0 for a new one, to the present version, in a transaction that has the store to
 * itself.
 */
export async function migrate(db: Kysely<StoreTables>, version: number, now: number): Promise<void> {
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
    await up(db as unknown as Kysely<never>);
    await db
      .insertInto('twinyard_migrations')
      .values({ number: i + 1, name, applied_at: now })
      .execute();
  }
}
