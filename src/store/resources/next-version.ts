import type { StoreTransaction } from '../database/database.js';

/** The setting that counts the changes in the audit log. */
export const VERSION_SETTING = 'resources.version';

/** The number of the next change. */
export async function nextVersion(tx: StoreTransaction): Promise<number> {
  const row = await tx.selectFrom('settings').select('value').where('name', '=', VERSION_SETTING).executeTakeFirst();
  const version = Number(row?.value ?? 0) + 1;
  const value = String(version);
  await tx
    .insertInto('settings')
    .values({ name: VERSION_SETTING, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
  return version;
}
