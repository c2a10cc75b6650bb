import { sql } from 'kysely';
import type { StoreDatabase } from './database.js';
import { storeVersion } from './migrations.js';

export interface StoreHealth {
  /** Migrations that it has been through. */
  readonly version: number;
  /** How long a small query took. */
  readonly latencyMs: number;
  /** Of the whole database. */
  readonly bytes: number;
}

/** Asks a store how it is. Throws where it does not respond. */
export async function storeHealth({ db, kind }: StoreDatabase, nowMs: () => number): Promise<StoreHealth> {
  const asked = nowMs();
  const version = (await storeVersion(db)) ?? 0;
  const latencyMs = nowMs() - asked;
  const size =
    kind === 'sqlite'
      ? sql<{ bytes: number }>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`
      : sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`;
  return { version, latencyMs, bytes: Number((await size.execute(db)).rows[0]!.bytes) };
}
