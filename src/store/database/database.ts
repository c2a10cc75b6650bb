import type { Kysely, Transaction } from 'kysely';
import type { StoreTables } from './schema.js';

/** A transaction that has the store to itself. */
export type StoreTransaction = Transaction<StoreTables>;

/** The tables of a store, in an SQLite file or in PostgreSQL. */
export interface StoreDatabase {
  readonly kind: 'sqlite' | 'postgres';
  /** For messages: without the password. */
  readonly address: string;
  /** For reading. Writes go through `exclusively`. */
  readonly db: Kysely<StoreTables>;
  /**
   * Runs one transaction that overlaps with no other of this kind, in this or any other process: what it reads cannot change
   * before it ends. `work` uses only the transaction that it is passed: a query on `db` inside it would never return.
   * @param lasts `past-power-cuts`: on the disk when it resolves, which takes some milliseconds; `past-crashes`: survives
   * the process, but the last transactions of this kind may be lost in a power cut
   */
  exclusively<Result>(
    work: (tx: StoreTransaction) => Promise<Result>,
    lasts?: 'past-power-cuts' | 'past-crashes',
  ): Promise<Result>;
  /**
   * Runs a transaction that only inserts or deletes rows that no other transaction reads before it writes: in PostgreSQL it waits
   * for no other process. It survives the process, but may be lost in a power cut.
   */
  append<Result>(work: (tx: StoreTransaction) => Promise<Result>): Promise<Result>;
  /** Milliseconds since 1970 by the clock that all processes on the store share. */
  now(): Promise<number>;
}

export interface OpenStoreOptions {
  /** Whether a missing SQLite file is created; otherwise it is an error. */
  readonly create?: boolean;
  /** Whether tables are created and migrated; otherwise the store is opened as it is, if this program can read it. */
  readonly migrate?: boolean;
  /** How long to wait for another process that has locked the store. */
  readonly lockWaitMs?: number;
  /** How long a query may take in PostgreSQL, once tables are migrated. */
  readonly queryMs?: number;
}
