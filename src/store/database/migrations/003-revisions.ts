import type { Migration } from './migration.js';

/** The specs that resources had, by generation: what a rollback restores. */
export const revisions: Migration = {
  name: 'revisions',
  async up(db) {
    await db.schema
      .createTable('resource_revisions')
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('generation', 'bigint', (column) => column.notNull())
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('spec', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('resource_revisions_primary_key', ['uid', 'generation'])
      .execute();
  },
};
