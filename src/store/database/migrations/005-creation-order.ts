import type { Migration } from './migration.js';

/** Resources in the order of their creation. */
export const creationOrder: Migration = {
  name: 'creation order',
  async up(db) {
    await db.schema
      .createIndex('resources_by_creation')
      .on('resources')
      .columns(['kind', 'created_at', 'workspace', 'name'])
      .execute();
  },
};
