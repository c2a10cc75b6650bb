import type { StoreDatabase } from './database.js';

/** Named values that all processes on the store share, such as the key for anonymous ids. */
export class StoreSettings {
  constructor(private readonly store: Pick<StoreDatabase, 'db' | 'exclusively'>) {}

  async get(name: string): Promise<string | null> {
    const row = await this.store.db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
    return row?.value ?? null;
  }

  async set(name: string, value: string): Promise<void> {
    await this.store.exclusively(async (tx) => {
      await tx
        .insertInto('settings')
        .values({ name, value })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
        .execute();
    });
  }

  /** The value, created on first use: every process gets the same one. */
  async getOrCreate(name: string, make: () => string): Promise<string> {
    const present = await this.get(name);
    if (present !== null) return present;
    return this.store.exclusively(async (tx) => {
      await tx
        .insertInto('settings')
        .values({ name, value: make() })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute();
      return (await tx.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirstOrThrow()).value;
    });
  }
}
