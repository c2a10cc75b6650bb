import type { StoreDatabase } from '../database/database.js';

/** Whether any resource holds a sealed secret. A quote inside a JSON text is escaped, so no text can look like one. */
export async function holdsSecrets({ db }: Pick<StoreDatabase, 'db'>): Promise<boolean> {
  const sealed = db.selectFrom('resources').select('name').where('spec', 'like', '%"$sealed":%').limit(1);
  return (await sealed.executeTakeFirst()) !== undefined;
}
