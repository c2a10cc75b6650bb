import { sql } from 'kysely';
import type { StoreDatabase } from '../../database/database.js';
import {
  BY_NAME,
  between,
  contents,
  type PageStart,
  placeAfter,
  type ResourceFilter,
  ranges,
} from './resource-conditions.js';

/** How many resources of a kind fit. */
export async function countResources(
  { db, kind: database }: Pick<StoreDatabase, 'db' | 'kind'>,
  filter: ResourceFilter,
): Promise<number> {
  const looksInto = contents(filter);
  const isAtOnce = database === 'postgres' || looksInto.length === 0;
  let total = 0;
  for (let start: PageStart | null = null; ; ) {
    const end: PageStart | null = isAtOnce ? null : await placeAfter(db, filter, start, BY_NAME);
    const wanted = sql.join([...ranges(filter), ...between(filter, BY_NAME, start, end), ...looksInto], sql` and `);
    const { rows } = await sql<{ count: number }>`select count(*) as count from resources where ${wanted}`.execute(db);
    total += Number(rows[0]!.count);
    if (end === null) return total;
    start = end;
  }
}
