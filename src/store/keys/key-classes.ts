import type { StoreDatabase } from '../database/database.js';
import type { StoreSettings } from '../database/settings.js';

/** The setting in which gateways publish the SLO classes that their policies define: a JSON list. */
const CLASSES = 'slo_classes';
/** With more classes than this, the oldest are dropped. */
const MOST_CLASSES = 1000;

/** The SLO classes that gateways on the store have published, besides the built-in ones. */
export async function definedClasses({ settings }: { readonly settings: StoreSettings }): Promise<string[]> {
  return listOf(await settings.get(CLASSES));
}

/** Publishes classes. Others stay, since another gateway may define them. */
export async function defineClasses(
  store: Pick<StoreDatabase, 'exclusively'> & { readonly settings: StoreSettings },
  names: readonly string[],
): Promise<void> {
  const told = await definedClasses(store);
  if (names.every((name) => told.includes(name))) return;
  await store.exclusively(async (tx) => {
    const row = await tx.selectFrom('settings').select('value').where('name', '=', CLASSES).executeTakeFirst();
    const all = [...new Set([...listOf(row?.value ?? null), ...names])];
    const value = JSON.stringify(all.slice(-MOST_CLASSES));
    await tx
      .insertInto('settings')
      .values({ name: CLASSES, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  });
}

const listOf = (value: string | null) => (value === null ? [] : (JSON.parse(value) as string[]));
