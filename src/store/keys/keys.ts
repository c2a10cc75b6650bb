import { setImmediate as immediate } from 'node:timers/promises';
import type { StoreDatabase } from '../database/database.js';
import { VERSION_SETTING } from '../resources/next-version.js';
import { deletingResource, unknownResource } from '../resources/resource-errors.js';
import { type ResourceRecord, type ResourceRef, resourceRecordOf } from '../resources/resource-record.js';
import type { ResourceTransaction } from '../resources/resource-transaction.js';
import type { Resources } from '../resources/resources.js';
import { revokedKey } from './errors.js';
import { API_KEY, type KeyHashes, type KeyRecord, type KeyStatus, keyRecordOf } from './key-record.js';
import { hashKeySecret, keyHint, makeKeySecret } from './key-secret.js';

/** An ApiKey with the secret that only its holder has from now on. */
export interface IssuedKey {
  readonly record: ResourceRecord;
  readonly secret: string;
}

/** What has changed of the keys since a version. */
export interface KeyNews {
  /** Up to which version the receiver knows the keys now. */
  readonly version: string;
  /** Whether these are all keys: the receiver forgets any other. */
  readonly isAll: boolean;
  readonly keys: readonly KeyRecord[];
  /** The ids of keys that no longer exist. */
  readonly removed: readonly string[];
}

const PAGE = 500;

/** The secrets of ApiKeys: how they are issued and revoked, and how gateways learn of changes. */
export class Keys {
  constructor(private readonly store: Pick<StoreDatabase, 'db' | 'now'> & { readonly resources: Resources }) {}

  /**
   * Issues a new secret for an ApiKey. The current one is accepted until `previousUntil`; null ends it at once. One
   * that was still accepted from an earlier rotation is not any more.
   */
  async issue(ref: ResourceRef, previousUntil: number | null, actor: string): Promise<IssuedKey> {
    return this.store.resources.change(actor, async (tx) => {
      const before = await existing(tx, ref);
      if ((before.status as KeyStatus | null)?.revoked_at !== undefined) throw revokedKey(ref);
      const secret = makeKeySecret(before.uid);
      const former = before.privateState as KeyHashes | null;
      const isKept = former !== null && previousUntil !== null;
      const status: KeyStatus = {
        hint: keyHint(secret),
        ...(isKept ? { previous_until: new Date(previousUntil).toISOString() } : {}),
      };
      const hashes: KeyHashes = { hash: hashKeySecret(secret), previous_hash: isKept ? former.hash : null };
      return { record: await tx.putPrivate(before, status, hashes, 'issue'), secret };
    });
  }

  /** Ends a key for good; it stays listed, and its usage keeps its name. Revoking it again changes nothing. */
  async revoke(ref: ResourceRef, actor: string): Promise<ResourceRecord> {
    const now = await this.store.now();
    return this.store.resources.change(actor, async (tx) => {
      const before = await existing(tx, ref);
      const { hint, revoked_at } = (before.status ?? {}) as KeyStatus;
      if (revoked_at !== undefined) return before;
      const { hash } = (before.privateState ?? { hash: hashKeySecret(makeKeySecret(before.uid)) }) as KeyHashes;
      const status = { ...(hint === undefined ? {} : { hint }), revoked_at: new Date(now).toISOString() };
      return tx.putPrivate(before, status, { hash, previous_hash: null }, 'revoke');
    });
  }

  /**
   * Differs from an earlier one if any resource has changed since: a poll reads one row. It has a count and the
   * creation time of the store, because a store restored from a backup may reach the same count by other changes.
   */
  async version(): Promise<string> {
    const { applied_at, value } = await this.store.db
      .selectFrom('twinyard_migrations')
      .leftJoin('settings', (join) => join.on('settings.name', '=', VERSION_SETTING))
      .select(['applied_at', 'value'])
      .where('number', '=', 1)
      .executeTakeFirstOrThrow();
    return `${applied_at}.${value ?? 0}`;
  }

  /**
   * What has changed since a version that this returned before, or all keys where that is not known; null if nothing
   * has. Read in pieces, so that requests get their turn. A change while it reads may be included, and is included
   * again the next time.
   * @param since null for a receiver that knows nothing yet
   */
  async news(since: string | null): Promise<KeyNews | null> {
    // The version first: a change between the two is not missed that way.
    const version = await this.version();
    if (version === since) return null;
    const known = since === null ? null : countBetween(since, version);
    const [keys, removed] = [
      await this.#changedAfter(known ?? 0),
      known === null ? [] : await this.#removedAfter(known),
    ];
    return { version, isAll: known === null, keys, removed };
  }

  async #changedAfter(version: number): Promise<KeyRecord[]> {
    const keys: KeyRecord[] = [];
    for (let after = version; ; await immediate()) {
      const rows = await this.store.db
        .selectFrom('resources')
        .selectAll()
        .where('kind', '=', API_KEY)
        .where('resource_version', '>', after)
        .orderBy('resource_version')
        .limit(PAGE)
        .execute();
      for (const row of rows) {
        const key = keyRecordOf(resourceRecordOf(row));
        if (key !== null) keys.push(key);
      }
      if (rows.length < PAGE) return keys;
      after = rows.at(-1)!.resource_version;
    }
  }

  async #removedAfter(version: number): Promise<string[]> {
    const rows = await this.store.db
      .selectFrom('audit_log')
      .select('uid')
      .where('version', '>', version)
      .where('kind', '=', API_KEY)
      .where('action', '=', 'remove')
      .execute();
    return rows.map(({ uid }) => uid);
  }
}

async function existing(tx: ResourceTransaction, ref: ResourceRef): Promise<ResourceRecord> {
  const record = await tx.get(ref);
  if (record === null) throw unknownResource(ref);
  if (record.deletedAt !== null) throw deletingResource(ref);
  return record;
}

/**
 * A version is the time the store was created, a dot, and the number of changes since. Returns the change up to which
 * `since` knows the keys; null where `since` is of another store or later than `version`.
 */
function countBetween(since: string, version: string): number | null {
  const [store, count] = since.split('.');
  const [present, presentCount] = version.split('.');
  return store === present && Number(count) < Number(presentCount) ? Number(count) : null;
}
