import type { StoreDatabase } from '../database/database.js';

/**
 * Whether any resource holds a sealed secret, or one of a key. A quote inside a JSON text is escaped, so no text can look
 * like one.
 */
export async function holdsSecrets({ db }: Pick<StoreDatabase, 'db'>, keyId: string | null = null): Promise<boolean> {
  const pattern = keyId === null ? '%"$sealed":%' : `%"$sealed":"v1.${keyId}.%`;
  const sealed = db.selectFrom('resources').select('name').where('spec', 'like', pattern).limit(1);
  return (await sealed.executeTakeFirst()) !== undefined;
}
