import type { StoreDatabase } from '../database/database.js';
import type { StoreSettings } from '../database/settings.js';

/** The setting in which gateways tell those who make keys what classes their policies define: a JSON list. */
const CLASSES = 'slo_classes';
/** Whatever is configured: beyond so many, those that were told first are forgotten. */
const MOST_CLASSES = 1000;

/** The SLO classes that gateways on a store have told of, besides those that every policy knows. */
export async function definedClasses({ settings }: { readonly settings: StoreSettings }): Promise<string[]> {
  return listOf(await settings.get(CLASSES));
}

/** Adds classes to those that are told of; others stay, since another gateway may define them. */
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
