import type { Kysely } from 'kysely';

export interface Migration {
  readonly name: string;
  /** Runs once per store, inside a transaction. Knows only the tables of its time. */
  up(db: Kysely<never>): Promise<void>;
}
