import type { StoreTransaction } from '../database/database.js';

/** The setting that counts the changes in the audit log. */
export const VERSION_SETTING = 'resources.version';

/** The number of the next change. */
export async function nextVersion(tx: StoreTransaction): Promise<number> {
  const version = (await lastVersion(tx)) + 1;
  await putVersion(tx, version);
  return version;
}

export async function lastVersion(tx: StoreTransaction): Promise<number> {
  const row = await tx.selectFrom('settings').select('value').where('name', '=', VERSION_SETTING).executeTakeFirst();
  return Number(row?.value ?? 0);
}

export async function putVersion(tx: StoreTransaction, version: number): Promise<void> {
  const value = String(version);
  await tx
    .insertInto('settings')
    .values({ name: VERSION_SETTING, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}
