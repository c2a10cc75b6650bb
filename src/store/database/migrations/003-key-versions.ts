import type { Migration } from './migration.js';

/** Which change of the keys was the last of each: whoever knows them up to one asks for what came later. */
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
