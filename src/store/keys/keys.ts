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

/** A key with its secret, which is returned only here. */
export interface IssuedKey {
  readonly key: KeyRecord;
  readonly text: string;
}

export type KeyChanges = Partial<KeySettings>;

/** Changes of the keys since some version. */
export interface KeyNews {
  /** The version up to which they are known now. */
  readonly version: string;
  /** Whether these are all keys: any other key no longer exists. */
  readonly isAll: boolean;
  readonly keys: readonly KeyRecord[];
}

/** A key before and after a change. */
interface Changed {
  readonly before: KeyRecord | null;
  readonly key: KeyRecord;
}

const PAGE = 500;

/** The setting that counts the changes of keys. */
const VERSION = 'keys.version';

/**
 * The API keys. A change is atomic, and on disk when its promise resolves, with the actor in the audit log. With `by`
 * null the caller writes the audit log itself.
 */
export class Keys {
  /**
   * Awaited after every change of a key through this object, so that a cache of keys in this process is up to date when
   * the change resolves. It must not throw.
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
   * All keys in order of creation, including revoked ones. Read in batches: ten thousand at once would block the
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

  /**
   * Changes what is given and leaves the rest. A function of the key gives changes that depend on its present settings.
   */
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
   * Gives the key a new secret. The present one is accepted until `previousUntil`; null ends it at once. One that is
   * still accepted from an earlier rotation ends.
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

  /** Revokes a key for good; revoking it again changes nothing. */
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
   * Differs from an earlier value if any key has changed since: one row, cheap to poll. It holds a count and the time
   * the store was created, because a store restored from a backup may reach the same count by other changes.
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
   * Changes since a version that `version` returned before, or everything where that is unknown; null if nothing has
   * changed. Read in batches. A change made meanwhile may be included, and is then returned again next time.
   * @param since null for no version yet
   */
  async news(since: string | null): Promise<KeyNews | null> {
    // The version is read first, so that a change in between is not missed.
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

  /** @param work is passed the number of the change, which it writes to the rows it changes */
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

/** Lists the fields that may be changed: the object of a caller may hold anything. */
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
 * A version is the creation time of the store, a dot, and the number of changes. Returns the change up to which `since`
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
