import type { Migration } from './migration.js';

/** The number of the last change of each key, so that a gateway can read only what changed since. */
export const keyVersions: Migration = {
  name: 'key versions',
  async up(db) {
    await db.schema
      .alterTable('api_keys')
      .addColumn('version', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema.createIndex('api_keys_by_version').on('api_keys').column('version').execute();
  },
};
