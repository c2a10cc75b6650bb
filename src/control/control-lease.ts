import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Store, StoreTransaction } from '../store/open-store.js';
import { otherControlPlane } from './errors.js';

const SETTING = 'control_plane';
const HELD_MS = 30_000;
const RENEW_MS = 10_000;

/** Who else has it: where, and how long still if nobody renews it. */
export interface LeaseHolder {
  readonly place: string;
  readonly leftMs: number;
}

interface Holder {
  readonly owner: string;
  /** For messages: host and folder. */
  readonly place: string;
  readonly until: number;
}

/**
 * The right to keep the resources of a store true. Several gateways may share a store, but two that start replicas for the same
 * endpoint would take each other's for too many. It belongs to a data folder, not to a process: whoever opens the folder after a
 * crash has it at once, and the folder's own lock keeps out a second one.
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
   * Throws CONTROL_ELSEWHERE while another folder's control plane has it. To be called by who has locked the folder.
   * @param lost called when another one has it now, with who that is; nothing may be kept true any more
   */
  static async take(store: Store, dataDir: string, lost: (holder: LeaseHolder) => void): Promise<ControlLease> {
    const owner = ownerOf(join(dataDir, 'control-id'));
    const place = `${hostname()}:${dataDir}`;
    const holder = await hold(store, owner, place);
    if (holder !== null) throw otherControlPlane(store.address, holder);
    return new ControlLease(store, owner, place, lost);
  }

  /** Others may have it at once. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.store.exclusively(async (tx) => {
      const holder = await holderIn(tx);
      if (holder?.owner === this.owner) await write(tx, { ...holder, until: 0 });
    });
  }

  /** A store that cannot be asked tells nobody else either. */
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
  writeFileSync(`${path}.new`, `${randomUUID()}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return ownerOf(path);
}

/** Takes it, or says who has it. */
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
