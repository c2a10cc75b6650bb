import type { Migration } from './migration.js';

/** Usage of speech and of audio, which is not counted in tokens. */
export const audioUsage: Migration = {
  name: 'audio usage',
  async up(db) {
    for (const column of ['characters', 'audio_seconds']) {
      await db.schema
        .alterTable('usage')
        .addColumn(column, 'bigint', (definition) => definition.notNull().defaultTo(0))
        .execute();
    }
  },
};
