import { type KeyRecord, subjectWorkspace } from '../../../store/keys/key-record.js';
import type { StoreTransaction } from '../../../store/open-store.js';
import { loadAccounts, saveAccounts } from '../../../store/quota/quota-accounts.js';
import { type SpentRow, spentSince } from '../../../store/quota/quota-spending.js';
import { Account } from './account.js';
import { absorbState, readState, writeState } from './account-state.js';

/** The context of a read or write of the store. */
export interface BookMoment {
  tx: StoreTransaction;
  now: number;
  isAlive: (gateway: string) => boolean;
}

/** All accounts of a gateway; loads them from the store and saves them there. */
export class AccountBook {
  readonly #gateway: string;
  /** By key, then by scope; keys without limits are not there. */
  #ofKeys = new Map<string, Map<string, Account>>();
  /** Accounts with unsaved changes, the oldest change first. */
  #unsaved: Account[] = [];
  #writing: Account[] = [];

  constructor(gateway: string) {
    this.#gateway = gateway;
  }

  get size(): number {
    return this.#all().length;
  }

  /**
   * Creates the accounts that the limits of these keys need, and drops their other accounts. Returns the new ones.
   * @param isAll there are no other keys: their accounts are forgotten
   * @param removed ids of keys that no longer exist
   */
  open(records: readonly KeyRecord[], isAll: boolean, removed: readonly string[] = []): Account[] {
    const before = this.#ofKeys;
    if (isAll) this.#ofKeys = new Map();
    for (const id of removed) this.#ofKeys.delete(id);
    const added: Account[] = [];
    for (const { id, limits, revokedAt } of records) {
      const accounts = new Map<string, Account>();
      for (const [scope, scopeLimits] of revokedAt === null ? Object.entries(limits) : []) {
        const present = before.get(id)?.get(scope);
        const account = present ?? new Account(id, scope, scopeLimits);
        if (present === undefined) added.push(account);
        else present.limit(scopeLimits);
        accounts.set(scope, account);
      }
      if (accounts.size > 0) this.#ofKeys.set(id, accounts);
      else this.#ofKeys.delete(id);
    }
    return added;
  }

  /** Accounts that could not be loaded: they count as new the next time. */
  forget(accounts: readonly Account[]): void {
    for (const { keyId, scope } of accounts) this.#ofKeys.get(keyId)?.delete(scope);
    this.#unsaved = this.#unsaved.filter((account) => !accounts.includes(account));
  }

  /**
   * Drops the accounts of subjects of tokens that are not in use; all that they hold is in the store.
   * @param used ids of subjects
   */
  dropSubjects(used: ReadonlySet<string>): void {
    for (const [id, accounts] of this.#ofKeys) {
      if (used.has(id) || subjectWorkspace(id) === undefined) continue;
      if ([...accounts.values()].every(({ isSaved, seats }) => isSaved && seats === 0)) this.#ofKeys.delete(id);
    }
  }

  /** The accounts of a key, by scope. */
  ofKey({ id }: KeyRecord): ReadonlyMap<string, Account> {
    return new Map(this.#ofKeys.get(id));
  }

  #all(): Account[] {
    return [...this.#ofKeys.values()].flatMap((accounts) => [...accounts.values()]);
  }

  /** Marks an account as changed. */
  changed(account: Account): void {
    if (!account.isSaved) return;
    account.isSaved = false;
    this.#unsaved.push(account);
  }

  /** Replaces some accounts by their state in the store. */
  async load({ tx, isAlive }: BookMoment, accounts: Iterable<Account>): Promise<void> {
    const wanted = [...accounts];
    const states = await loadAccounts(tx, wanted.map(nameOf));
    for (const account of wanted) readState(account, states.get(nameOf(account)), isAlive);
  }

  /**
   * Loads the state of all accounts from the store. Spending is at least what the usage tables say: a gateway that
   * crashed may have metered requests that it never wrote into an account.
   * @param keep whether the state in memory counts as well, because not all of it was saved
   */
  async takeUp(moment: BookMoment, keep: boolean, added?: readonly Account[]): Promise<void> {
    const { tx, isAlive, now } = moment;
    const accounts = added ?? this.#all();
    if (accounts.length === 0) return;
    const states = await loadAccounts(tx, added?.map(nameOf));
    for (const account of accounts) {
      const state = states.get(nameOf(account));
      if (!keep) readState(account, state, isAlive);
      else if (state !== undefined) absorbState(account, state, isAlive);
      account.advance(Math.floor(now / 1000));
      if (keep) this.changed(account);
    }
    await this.#raise(tx, accounts, added !== undefined);
  }

  async #raise(tx: StoreTransaction, accounts: readonly Account[], only: boolean): Promise<void> {
    const keyIds = only ? [...new Set(accounts.map(({ keyId }) => keyId))] : undefined;
    for (const period of ['day', 'month'] as const) {
      const { start } = accounts[0]![period];
      const spent = spentByAccount(await spentSince(tx, dayText(start), keyIds));
      for (const account of accounts) {
        const sum = spent.get(nameOf(account));
        const spending = account[period];
        if (sum === undefined || (sum.tokens <= spending.tokens && sum.nanos <= spending.nanos)) continue;
        spending.raise(start, sum.tokens, sum.nanos);
        this.changed(account);
      }
    }
  }

  /**
   * Writes accounts that have changed; `committed` has to follow.
   * @param most at a time, so that writing never takes long
   */
  async save(moment: BookMoment, most = Number.POSITIVE_INFINITY): Promise<void> {
    this.#writing = this.#unsaved.splice(0, most);
    for (const account of this.#writing) account.isSaved = true;
    await this.write(moment, this.#writing);
  }

  /** Whether the transaction that saved accounts was committed. Otherwise they are saved again. */
  committed(isCommitted: boolean): void {
    if (!isCommitted) for (const account of this.#writing) this.changed(account);
    this.#writing = [];
  }

  /** From now on the store is authoritative: the state in memory is not written any more. */
  leaveToStore(): void {
    for (const account of this.#unsaved) account.isSaved = true;
    this.#unsaved = [];
  }

  /** Writes some accounts, changed or not. */
  async write({ tx, now }: BookMoment, accounts: Iterable<Account>): Promise<void> {
    const states = new Map<string, string>();
    for (const account of accounts) states.set(nameOf(account), writeState(account, this.#gateway));
    await saveAccounts(tx, states, now);
  }
}

const nameOf = ({ keyId, scope }: Account) => `${keyId}/${scope}`;

const dayText = (second: number) => new Date(second * 1000).toISOString().slice(0, 10);

function spentByAccount(rows: readonly SpentRow[]): Map<string, { tokens: number; nanos: number }> {
  const sums = new Map<string, { tokens: number; nanos: number }>();
  for (const { keyId, model, nanos, tokens } of rows) {
    for (const scope of new Set(['*', model])) {
      const name = `${keyId}/${scope}`;
      const sum = sums.get(name) ?? { tokens: 0, nanos: 0 };
      sums.set(name, { tokens: sum.tokens + tokens, nanos: sum.nanos + nanos });
    }
  }
  return sums;
}
