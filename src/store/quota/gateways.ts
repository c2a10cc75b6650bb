import { sql } from 'kysely';
import type { StoreDatabase, StoreTransaction } from '../database/database.js';

/** Where accounts are: in the memory of this gateway, in the store for all gateways, or not decided yet. */
export type GatewayMode = 'joining' | 'local' | 'shared';

/** A gateway on the store, as last reported. Times are milliseconds since 1970 by the store's clock. */
export interface GatewayRow {
  id: string;
  startedAt: number;
  seenAt: number;
  mode: GatewayMode;
}

/** The store's clock, read inside a transaction. */
export async function clockOf(tx: StoreTransaction, kind: StoreDatabase['kind']): Promise<number> {
  if (kind === 'sqlite') return Date.now();
  const now = sql<{ ms: number }>`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms`;
  return (await now.execute(tx)).rows[0]!.ms;
}

export async function listGateways(tx: StoreTransaction): Promise<GatewayRow[]> {
  const rows = await tx.selectFrom('gateways').selectAll().orderBy('id').execute();
  return rows.map(({ id, started_at, seen_at, mode }) => ({
    id,
    startedAt: started_at,
    seenAt: seen_at,
    mode: mode as GatewayMode,
  }));
}

export async function saveGateway(tx: StoreTransaction, { id, startedAt, seenAt, mode }: GatewayRow): Promise<void> {
  await tx
    .insertInto('gateways')
    .values({ id, started_at: startedAt, seen_at: seenAt, mode })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: seenAt, mode }))
    .execute();
}

export async function removeGateways(tx: StoreTransaction, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.deleteFrom('gateways').where('id', 'in', ids).execute();
}
