import type { StoreDatabase } from '../database/database.js';

/** Whether any resource has a secret that was sealed. In JSON a quote inside of a text is escaped: no text looks like one. */
export async function holdsSecrets({ db }: Pick<StoreDatabase, 'db'>): Promise<boolean> {
  const sealed = db.selectFrom('resources').select('name').where('spec', 'like', '%"$sealed":%').limit(1);
  return (await sealed.executeTakeFirst()) !== undefined;
}
