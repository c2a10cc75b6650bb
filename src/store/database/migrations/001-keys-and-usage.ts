import type { CreateTableBuilder } from 'kysely';
import type { Migration } from './migration.js';

/** API keys, their usage, and the settings and accounts that gateways on one store share. */
export const keysAndUsage: Migration = {
  name: 'keys and usage',
  async up(db) {
    await texts(
      db.schema.createTable('api_keys').addColumn('id', 'text', (column) => column.primaryKey()),
      ['name', 'hash', 'hint', 'tenant', 'role', 'limits'],
    )
      .addColumn('previous_hash', 'text')
      .addColumn('previous_until', 'bigint')
      .addColumn('models', 'text')
      .addColumn('max_slo_class', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint')
      .addColumn('revoked_at', 'bigint')
      .execute();

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
