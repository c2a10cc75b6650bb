import { sql } from 'kysely';
import type { Migration } from './migration.js';

/** Experiments that were saved under a name. */
export const labResults: Migration = {
  name: 'lab-results',
  async up(db, database) {
    // Pages are ordered by it, the same in every database.
    const ordered = database === 'postgres' ? sql`text collate "C"` : 'text';
    await db.schema
      .createTable('lab_results')
      .addColumn('id', ordered, (column) => column.primaryKey())
      .addColumn('workspace', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('saved_at', 'bigint', (column) => column.notNull())
      .addColumn('saved_by', 'text', (column) => column.notNull())
      .addColumn('facts', 'text', (column) => column.notNull())
      .addColumn('result', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('lab_results_by_workspace')
      .on('lab_results')
      .columns(['workspace', 'saved_at', 'id'])
      .execute();
  },
};
