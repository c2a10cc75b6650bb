import type { StoreTransaction } from '../database/database.js';

/** PostgreSQL takes 65,535 parameters in a statement, SQLite 32,766. */
const ROWS_PER_STATEMENT = 500;

/** The states of the named accounts, or of all. Accounts that were never saved are missing. */
export async function loadAccounts(tx: StoreTransaction, names?: readonly string[]): Promise<Map<string, string>> {
  const states = new Map<string, string>();
  const select = tx.selectFrom('quota_accounts').select(['account', 'state']);
  if (names === undefined) {
    for (const { account, state } of await select.execute()) states.set(account, state);
    return states;
  }
  for (let from = 0; from < names.length; from += ROWS_PER_STATEMENT) {
    const rows = await select.where('account', 'in', names.slice(from, from + ROWS_PER_STATEMENT)).execute();
    for (const { account, state } of rows) states.set(account, state);
  }
  return states;
}

/** Saves the states of accounts, by name. */
export async function saveAccounts(
  tx: StoreTransaction,
  states: ReadonlyMap<string, string>,
  now: number,
): Promise<void> {
  const rows = Array.from(states, ([account, state]) => ({ account, state, updated_at: now }));
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    await tx
      .insertInto('quota_accounts')
      .values(rows.slice(from, from + ROWS_PER_STATEMENT))
      .onConflict((conflict) =>
        conflict.column('account').doUpdateSet((row) => ({
          state: row.ref('excluded.state'),
          updated_at: row.ref('excluded.updated_at'),
        })),
      )
      .execute();
  }
}
