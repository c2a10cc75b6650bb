import { setImmediate as immediate } from 'node:timers/promises';
import type { StoreDatabase, StoreTransaction } from '../database/database.js';
import type { StoreSettings } from '../database/settings.js';
import { type AuditAction, writePlainAudit } from '../resources/audit.js';
import { checkKey } from './check-key.js';
import { revokedKey, unknownKey } from './errors.js';
import type { KeyRecord, KeySettings } from './key-record.js';
import { recordOf, rowOf } from './key-row.js';
import { hashKeyText, keyHint, makeKeyId, makeKeyText } from './key-text.js';
import { keyView } from './key-view.js';

/** A key with the text that only its holder will have from now on. */
export interface IssuedKey {
  readonly key: KeyRecord;
  readonly text: string;
}

export type KeyChanges = Partial<KeySettings>;

/** What somebody does not know yet of the keys. */
export interface KeyNews {
  /** Up to which he knows them now. */
  readonly version: string;
  /** Whether these are all there are: what else he knows is no more. */
  readonly isAll: boolean;
  readonly keys: readonly KeyRecord[];
}

/** A change, as whoever makes it has it. */
interface Changed {
  readonly before: KeyRecord | null;
  readonly key: KeyRecord;
}

const PAGE = 500;

/** The setting that counts the changes of keys. */
const VERSION = 'keys.version';

/**
 * Who may ask. Every change happens as a whole or not at all, and is on the disk when its promise resolves, with who made it in
 * the audit log. Where `by` is null, whoever makes it gives account of it elsewhere.
 */
export class Keys {
  /**
   * Awaited after every change of a key through this object, for those in this process who know the keys by heart: when a change
   * has resolved, they know. What it throws is its own affair.
   */
  changed: () => Promise<void> = async () => {};

  constructor(
    private readonly store: Pick<StoreDatabase, 'db' | 'exclusively' | 'now'> & { readonly settings: StoreSettings },
  ) {}

  async create(settings: KeySettings, by: string | null = null): Promise<IssuedKey> {
    checkKey(settings);
    const createdAt = await this.store.now();
    const id = makeKeyId();
    const text = makeKeyText(id);
    const key: KeyRecord = {
      id,
      name: settings.name,
      hash: hashKeyText(text),
      previousHash: null,
      previousUntil: null,
      hint: keyHint(text),
      tenant: settings.tenant ?? settings.name,
      models: settings.models ?? null,
      maxSloClass: settings.maxSloClass ?? null,
      role: settings.role ?? 'none',
      limits: settings.limits ?? {},
      createdAt,
      expiresAt: settings.expiresAt ?? null,
      revokedAt: null,
    };
    await this.changing(by, 'create', async (tx, version) => {
      await tx.insertInto('api_keys').values(rowOf(key, version)).execute();
      return { before: null, key };
    });
    return { key, text };
  }

  /**
   * All there ever were, in the order in which they were made. Read in pieces: ten thousand at once would stop the
   * requests of a gateway for 50 ms.
   */
  async list(): Promise<KeyRecord[]> {
    const keys: KeyRecord[] = [];
    for (let after = ''; ; await immediate()) {
      const page = this.store.db.selectFrom('api_keys').selectAll().where('id', '>', after).orderBy('id').limit(PAGE);
      const rows = await page.execute();
      for (const row of rows) keys.push(recordOf(row));
      if (rows.length < PAGE) return keys.sort((a, b) => a.createdAt - b.createdAt);
      after = rows.at(-1)!.id;
    }
  }

  async get(id: string): Promise<KeyRecord | null> {
    const row = await this.store.db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? null : recordOf(row);
  }

  /** Changes what is given and leaves the rest. Changes that depend on how the key is are a function of it. */
  async update(
    id: string,
    changes: KeyChanges | ((key: KeyRecord) => KeyChanges),
    by: string | null = null,
  ): Promise<KeyRecord> {
    return this.changing(by, 'update', async (tx, version) => {
      const before = await unrevoked(tx, id);
      const given = typeof changes === 'function' ? changes(before) : changes;
      checkKey(given);
      const key = withChanges(before, given);
      await save(tx, key, version);
      return { before, key };
    });
  }

  /**
   * Gives the key a new text. The present one is accepted until `previousUntil`; null ends it at once. One that was
   * still accepted from an earlier rotation is not any more.
   */
  async rotate(id: string, previousUntil: number | null, by: string | null = null): Promise<IssuedKey> {
    const text = makeKeyText(id);
    const key = await this.changing(by, 'issue', async (tx, version) => {
      const before = await unrevoked(tx, id);
      const rotated: KeyRecord = {
        ...before,
        hash: hashKeyText(text),
        hint: keyHint(text),
        previousHash: previousUntil === null ? null : before.hash,
        previousUntil,
      };
      await save(tx, rotated, version);
      return { before, key: rotated };
    });
    return { key, text };
  }

  /** Ends a key for good; ending it again changes nothing. */
  async revoke(id: string, by: string | null = null): Promise<KeyRecord> {
    const now = await this.store.now();
    return this.changing(by, 'delete', async (tx, version) => {
      const before = await known(tx, id);
      if (before.revokedAt !== null) return { before, key: before };
      const key: KeyRecord = { ...before, revokedAt: now, previousHash: null, previousUntil: null };
      await save(tx, key, version);
      return { before, key };
    });
  }

  /**
   * Differs from what it was before if any key has changed since: one row to read for those who ask often. It is a count, and
   * when the store was made: one that was filled from a backup may count to the same number by other changes.
   */
  async version(): Promise<string> {
    const { applied_at, value } = await this.store.db
      .selectFrom('twinyard_migrations')
      .leftJoin('settings', (join) => join.on('settings.name', '=', VERSION))
      .select(['applied_at', 'value'])
      .where('number', '=', 1)
      .executeTakeFirstOrThrow();
    return `${applied_at}.${value ?? 0}`;
  }

  /**
   * What has changed since a version that this said before, or everything where there is no telling; null if nothing has. Read
   * in pieces, as a list is. What changes meanwhile may be among it, and is told again the next time.
   * @param since null for somebody who knows nothing yet
   */
  async news(since: string | null): Promise<KeyNews | null> {
    // The version first: a change between the two is not missed that way.
    const version = await this.version();
    if (version === since) return null;
    const known = since === null ? null : countBetween(since, version);
    if (known === null) return { version, isAll: true, keys: await this.list() };
    const keys: KeyRecord[] = [];
    for (let after = known; ; await immediate()) {
      const rows = await this.#changedAfter(after);
      for (const row of rows) keys.push(recordOf(row));
      if (rows.length < PAGE) return { version, isAll: false, keys };
      after = rows.at(-1)!.version;
    }
  }

  #changedAfter(version: number) {
    const { db } = this.store;
    return db
      .selectFrom('api_keys')
      .selectAll()
      .where('version', '>', version)
      .orderBy('version')
      .limit(PAGE)
      .execute();
  }

  /** @param work is given the number of the change: what it changes has it from then on */
  private async changing(
    by: string | null,
    action: AuditAction,
    work: (tx: StoreTransaction, version: number) => Promise<Changed>,
  ): Promise<KeyRecord> {
    const now = await this.store.now();
    const { key: done } = await this.store.exclusively(async (tx) => {
      const counted = await tx.selectFrom('settings').select('value').where('name', '=', VERSION).executeTakeFirst();
      const version = (countOf(counted?.value) ?? 0) + 1;
      const result = await work(tx, version);
      const value = String(version);
      await tx
        .insertInto('settings')
        .values({ name: VERSION, value })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
        .execute();
      const { before, key } = result;
      if (by !== null && before !== key) {
        const shown = { before: before === null ? null : keyView(before, now), after: keyView(key, now) };
        await writePlainAudit(tx, by, now, { kind: 'Key', name: key.id, action, ...shown });
      }
      return result;
    });
    await this.changed().catch(() => {});
    return done;
  }
}

/** Names what may be changed: a caller's object may hold anything. */
function withChanges(key: KeyRecord, changes: KeyChanges): KeyRecord {
  const { name, tenant, models, maxSloClass, role, limits, expiresAt } = changes;
  return {
    ...key,
    name: name ?? key.name,
    tenant: tenant ?? key.tenant,
    models: models === undefined ? key.models : models,
    maxSloClass: maxSloClass === undefined ? key.maxSloClass : maxSloClass,
    role: role ?? key.role,
    limits: limits ?? key.limits,
    expiresAt: expiresAt === undefined ? key.expiresAt : expiresAt,
  };
}

async function known(tx: StoreTransaction, id: string): Promise<KeyRecord> {
  const row = await tx.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw unknownKey(id);
  return recordOf(row);
}

async function unrevoked(tx: StoreTransaction, id: string): Promise<KeyRecord> {
  const key = await known(tx, id);
  if (key.revokedAt !== null) throw revokedKey(id);
  return key;
}

async function save(tx: StoreTransaction, key: KeyRecord, version: number): Promise<void> {
  const { id, created_at: _, ...columns } = rowOf(key, version);
  await tx.updateTable('api_keys').set(columns).where('id', '=', id).execute();
}

/**
 * A version is the time the store was created, a dot, and the number of changes since. Returns the change up to which `since`
 * knows the keys; null where `since` is of another store or later than `version`.
 */
function countBetween(since: string, version: string): number | null {
  const [store, count] = since.split('.');
  const [present, presentCount] = version.split('.');
  const [from, to] = [countOf(count), countOf(presentCount)];
  return store === present && from !== null && to !== null && from < to ? from : null;
}

/** Null for anything but a count. */
function countOf(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : null;
}
