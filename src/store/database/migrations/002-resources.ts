import type { Migration } from './migration.js';

/** Resources, their events and the audit log. */
export const resources: Migration = {
  name: 'resources',
  async up(db) {
    await db.schema
      .createTable('resources')
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('workspace', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull().unique())
      .addColumn('generation', 'bigint', (column) => column.notNull())
      .addColumn('resource_version', 'bigint', (column) => column.notNull())
      .addColumn('spec_version', 'bigint', (column) => column.notNull())
      .addColumn('spec', 'text', (column) => column.notNull())
      .addColumn('status', 'text')
      .addColumn('labels', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addColumn('deleted_at', 'bigint')
      .addPrimaryKeyConstraint('resources_primary_key', ['kind', 'workspace', 'name'])
      .execute();

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
  },
};
