import { sql } from 'kysely';
import type { StoreTransaction } from '../database/database.js';

/**
 * Deletes requests of a workspace with their decisions, the oldest first, at most so many. Resolves to how many are gone.
 * @param until none that ended later; microseconds since 1970
 */
export async function deleteRequestsOf(
  tx: StoreTransaction,
  workspace: string,
  until: number,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ last: number | null }>`select max(ended_at) as last from (
    select ended_at from requests where workspace = ${workspace} and ended_at <= ${until}
    order by ended_at limit ${most}) as oldest`.execute(tx);
  const last = rows[0]?.last ?? null;
  if (last === null) return 0;
  const gone = sql`workspace = ${workspace} and ended_at <= ${last}`;
  await sql`delete from request_decisions where (ended_at, gateway, number) in (
    select ended_at, gateway, number from requests where ${gone})`.execute(tx);
  const { numAffectedRows } = await sql`delete from requests where ${gone}`.execute(tx);
  return Number(numAffectedRows);
}
