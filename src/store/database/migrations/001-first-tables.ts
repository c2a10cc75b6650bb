import { type CreateTableBuilder, sql } from 'kysely';
import type { Migration } from './migration.js';

/** Resources with their events and the audit log, usage, and what gateways on a store share. */
export const firstTables: Migration = {
  name: 'first tables',
  async up(db, database) {
    // Lists are ordered by these, the same in every database.
    const ordered = database === 'postgres' ? sql`text collate "C"` : 'text';
    await db.schema
      .createTable('resources')
      .addColumn('kind', ordered, (column) => column.notNull())
      .addColumn('workspace', ordered, (column) => column.notNull())
      .addColumn('name', ordered, (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull().unique())
      .addColumn('generation', 'bigint', (column) => column.notNull())
      .addColumn('resource_version', 'bigint', (column) => column.notNull())
      .addColumn('spec_version', 'bigint', (column) => column.notNull())
      .addColumn('spec', 'text', (column) => column.notNull())
      .addColumn('status', 'text')
      .addColumn('private_state', 'text')
      .addColumn('labels', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addColumn('deleted_at', 'bigint')
      .addPrimaryKeyConstraint('resources_primary_key', ['kind', 'workspace', 'name'])
      .execute();
    // Gateways query the ApiKeys that have changed since a version.
    await db.schema.createIndex('resources_by_version').on('resources').columns(['kind', 'resource_version']).execute();

    await db.schema
      .createTable('resource_events')
      .addColumn('id', 'bigint', (column) => column.primaryKey())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('workspace', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('message', 'text', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addColumn('first_at', 'bigint', (column) => column.notNull())
      .addColumn('last_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('resource_events_by_uid').on('resource_events').columns(['uid', 'id']).execute();

    await db.schema
      .createTable('audit_log')
      .addColumn('version', 'bigint', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('workspace', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('before', 'text')
      .addColumn('after', 'text')
      .execute();
    await db.schema.createIndex('audit_log_by_uid').on('audit_log').columns(['uid', 'version']).execute();

    await counts(texts(db.schema.createTable('usage'), ['key_id', 'model', 'endpoint', 'day', 'outcome']), [
      'requests',
      'input_tokens',
      'cached_tokens',
      'output_tokens',
      'reasoning_tokens',
      'estimated_requests',
      'cost_nanos',
    ])
      // Budgets are summed over the days of a key.
      .addPrimaryKeyConstraint('usage_primary_key', ['key_id', 'day', 'model', 'endpoint', 'outcome'])
      .execute();
    await db.schema.createIndex('usage_by_day').on('usage').column('day').execute();

    await db.schema
      .createTable('folded_journals')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('folded_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('settings')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('quota_accounts')
      .addColumn('account', 'text', (column) => column.primaryKey())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('gateways')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('started_at', 'bigint', (column) => column.notNull())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .addColumn('mode', 'text', (column) => column.notNull())
      .execute();
  },
};

type Table = CreateTableBuilder<string, string>;

function texts(table: Table, names: readonly string[]): Table {
  for (const name of names) table = table.addColumn(name, 'text', (column) => column.notNull());
  return table;
}

function counts(table: Table, names: readonly string[]): Table {
  for (const name of names) table = table.addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0));
  return table;
}
