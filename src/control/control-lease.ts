import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { replacePrivateFile } from '../files/replace-file.js';
import type { Store, StoreTransaction } from '../store/open-store.js';
import { otherControlPlane } from './errors.js';

const SETTING = 'control_plane';
const HELD_MS = 30_000;
const RENEW_MS = 10_000;

/** The holder of the lease, and how long it lasts if it is not renewed. */
export interface LeaseHolder {
  readonly place: string;
  readonly leftMs: number;
}

interface Holder {
  readonly owner: string;
  /** Host and folder, for messages. */
  readonly place: string;
  readonly until: number;
}

/**
 * The right to reconcile the resources of a store. Several gateways may share a store, but two control planes would stop each
 * other's replicas as surplus. The lease belongs to a data folder, not to a process: after a crash the next process of the folder has
 * it at once, and the folder's own lock excludes a second one.
 */
export class ControlLease {
  readonly #timer: NodeJS.Timeout;

  private constructor(
    private readonly store: Store,
    private readonly owner: string,
    private readonly place: string,
    lost: (holder: LeaseHolder) => void,
  ) {
    this.#timer = setInterval(() => void this.#renew(lost), RENEW_MS).unref();
  }

  /**
   * Throws CONTROL_ELSEWHERE while another folder's control plane holds it. The caller must have locked the folder.
   * @param lost called with the new holder when another control plane has taken it; reconciling must stop
   */
  static async take(store: Store, dataDir: string, lost: (holder: LeaseHolder) => void): Promise<ControlLease> {
    const owner = ownerOf(join(dataDir, 'control-id'));
    const place = `${hostname()}:${dataDir}`;
    const holder = await hold(store, owner, place);
    if (holder !== null) throw otherControlPlane(store.address, holder);
    return new ControlLease(store, owner, place, lost);
  }

  /** Others can take it at once. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.store.exclusively(async (tx) => {
      const holder = await holderIn(tx);
      if (holder?.owner === this.owner) await write(tx, { ...holder, until: 0 });
    });
  }

  /** While the store cannot be reached, no other control plane can take the lease either. */
  async #renew(lost: (holder: LeaseHolder) => void): Promise<void> {
    const holder = await hold(this.store, this.owner, this.place).catch(() => null);
    if (holder === null) return;
    clearInterval(this.#timer);
    lost(holder);
  }
}

function ownerOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  replacePrivateFile(path, `${randomUUID()}\n`);
  return ownerOf(path);
}

/** Takes the lease; returns the holder if it is held by another. */
async function hold(store: Store, owner: string, place: string): Promise<LeaseHolder | null> {
  const now = await store.now();
  return store.exclusively(async (tx) => {
    const holder = await holderIn(tx);
    if (holder !== null && holder.owner !== owner && holder.until > now) {
      return { place: holder.place, leftMs: holder.until - now };
    }
    await write(tx, { owner, place, until: now + HELD_MS });
    return null;
  }, 'past-crashes');
}

async function holderIn(tx: StoreTransaction): Promise<Holder | null> {
  const row = await tx.selectFrom('settings').select('value').where('name', '=', SETTING).executeTakeFirst();
  return row === undefined ? null : (JSON.parse(row.value) as Holder);
}

async function write(tx: StoreTransaction, holder: Holder): Promise<void> {
  const value = JSON.stringify(holder);
  await tx
    .insertInto('settings')
    .values({ name: SETTING, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}
