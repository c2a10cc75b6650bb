import { sql } from 'kysely';
import type { Migration } from './migration.js';

/** Requests that have ended, without their text, and the decisions about them. */
export const requests: Migration = {
  name: 'requests',
  async up(db, database) {
    // Rows lie in the order of time: new ones are appended, old ones are deleted from the other end.
    const inOrder = database === 'sqlite' ? sql`without rowid` : sql``;
    // Pages are ordered by it, and ids are found by their beginning, the same in every database.
    const ordered = database === 'postgres' ? sql`text collate "C"` : 'text';
    await db.schema
      .createTable('requests')
      .addColumn('ended_at', 'bigint', (column) => column.notNull())
      .addColumn('gateway', ordered, (column) => column.notNull())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('id', ordered, (column) => column.notNull())
      .addColumn('workspace', 'text', (column) => column.notNull())
      .addColumn('endpoint', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('slo_class', 'text', (column) => column.notNull())
      .addColumn('replica', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('ttft_us', 'bigint', (column) => column.notNull())
      .addColumn('duration_us', 'bigint', (column) => column.notNull())
      .addColumn('slow', 'integer', (column) => column.notNull())
      .addColumn('facts', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('requests_primary_key', ['ended_at', 'gateway', 'number'])
      .modifyEnd(inOrder)
      .execute();
    for (const column of ['id', 'workspace', 'endpoint', 'key_id', 'slo_class', 'outcome', 'slow']) {
      await db.schema.createIndex(`requests_by_${column}`).on('requests').columns([column, 'ended_at']).execute();
    }
    await db.schema
      .createTable('request_decisions')
      .addColumn('ended_at', 'bigint', (column) => column.notNull())
      .addColumn('gateway', 'text', (column) => column.notNull())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('explanation', 'text', (column) => column.notNull())
      // With a row id: rows of this length would each take a page of their own without it.
      .addPrimaryKeyConstraint('request_decisions_primary_key', ['ended_at', 'gateway', 'number'])
      .execute();
  },
};
