import { sql } from 'kysely';
import type { StoreTransaction } from '../database/database.js';

/** Spending of a key with a model since some day. */
export interface SpentRow {
  keyId: string;
  model: string;
  tokens: number;
  nanos: number;
}

/** Spending from a day on, by the usage table. @param keyIds only these keys */
export async function spentSince(
  tx: StoreTransaction,
  fromDay: string,
  keyIds?: readonly string[],
): Promise<SpentRow[]> {
  const select = tx
    .selectFrom('usage')
    .select([
      'key_id as keyId',
      'model',
      sql<number>`cast(sum(input_tokens + output_tokens) as bigint)`.as('tokens'),
      sql<number>`cast(sum(cost_nanos) as bigint)`.as('nanos'),
    ])
    .where('day', '>=', fromDay)
    .groupBy(['key_id', 'model']);
  if (keyIds === undefined) return select.execute();
  const rows: SpentRow[] = [];
  for (let from = 0; from < keyIds.length; from += KEYS_PER_STATEMENT) {
    rows.push(...(await select.where('key_id', 'in', keyIds.slice(from, from + KEYS_PER_STATEMENT)).execute()));
  }
  return rows;
}

const KEYS_PER_STATEMENT = 500;
