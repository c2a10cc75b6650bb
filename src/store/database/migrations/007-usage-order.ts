import { sql } from 'kysely';
import type { Migration } from './migration.js';

/** Pages of usage by key are read in their order: SQLite has it in the primary key, PostgreSQL sorts that by its own collation. */
export const usageOrder: Migration = {
  name: 'usage order',
  async up(db, database) {
    if (database === 'sqlite') return;
    await sql`create index usage_by_key on usage (key_id collate "C")`.execute(db);
  },
};
