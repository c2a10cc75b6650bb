import type { Kysely } from 'kysely';
import type { StoreDatabase } from '../database.js';

export interface Migration {
  readonly name: string;
  /** Runs once per store, inside a transaction. Knows only the tables of its time. */
  up(db: Kysely<never>, database: StoreDatabase['kind']): Promise<void>;
}
