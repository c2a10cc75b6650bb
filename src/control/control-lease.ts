import type { Store, StoreTransaction } from '../store/open-store.js';
import type { HostIdentity } from './host-identity.js';

const LEADER = 'control_plane';
const CLUSTER_HOST = 'cluster_host';
const HELD_MS = 30_000;
/** How often a follower looks whether the lease is free. */
const LOOK_MS = 1000;
/** The lease is renewed with every tenth look. */
const RENEW_EVERY = 10;

/** The holder of a lease. */
export interface LeaseHolder {
  readonly owner: string;
  /** Host and folder, for messages. */
  readonly place: string;
  readonly network: string;
  /** Its admin API. */
  readonly admin: string;
  /** By the store's clock, in milliseconds since 1970. */
  readonly until: number;
}

/** Who leads, and whose machine is the local cluster. */
export interface Standing {
  readonly leader: LeaseHolder;
  readonly isLeader: boolean;
  /** Null before the first leader has claimed it. */
  readonly clusterHost: LeaseHolder | null;
  readonly isClusterHere: boolean;
  /** By the store's clock. */
  readonly now: number;
}

export interface LeaseOptions {
  readonly store: Store;
  readonly host: HostIdentity;
  readonly admin: () => string;
  /** The replicas of the local cluster run here from now on, also if it belongs to another host. */
  readonly claimsCluster: boolean;
  /** Called when another process leads, or another host has the local cluster. */
  readonly changed: (standing: Standing) => void;
}

/**
 * Which of the control planes of a store leads: one at a time, and another one within 30 seconds after the leader was killed.
 * The lease belongs to a data folder, not to a process: after a crash the next process of the folder has it at once, and the
 * folder's own lock excludes a second one.
 *
 * The local cluster belongs to the host of its first leader, also when another host leads: only that host sees its replicas.
 */
export class ControlLease {
  readonly #options: LeaseOptions;
  readonly #timer: NodeJS.Timeout;
  #standing: Standing;
  #looks = 0;
  #isBusy = false;

  private constructor(options: LeaseOptions, standing: Standing) {
    this.#options = options;
    this.#standing = standing;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  /** Leads if no other control plane does. The caller must have locked the folder. */
  static async open(options: LeaseOptions): Promise<ControlLease> {
    return new ControlLease(options, await takeTurn(options, options.claimsCluster));
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** Others can take it at once. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    const { host, store } = this.#options;
    await store.exclusively(async (tx) => {
      for (const name of [LEADER, CLUSTER_HOST]) {
        const holder = await holderIn(tx, name);
        if (holder?.owner === host.id) await write(tx, name, { ...holder, until: 0 });
      }
    });
  }

  /** While the store cannot be reached, no other control plane can take the lease either. */
  async #look(): Promise<void> {
    const isRenewal = ++this.#looks % RENEW_EVERY === 0;
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      if (isRenewal || (!this.#standing.isLeader && (await this.#isFree()))) {
        this.#become(await takeTurn(this.#options, false));
      }
    } catch {
      // Tried again with the next look.
    } finally {
      this.#isBusy = false;
    }
  }

  async #isFree(): Promise<boolean> {
    const { store } = this.#options;
    const text = await store.settings.get(LEADER);
    return text === null || (JSON.parse(text) as LeaseHolder).until <= (await store.now());
  }

  #become(next: Standing): void {
    const before = this.#standing;
    this.#standing = next;
    const isSame = before.leader.owner === next.leader.owner && before.clusterHost?.owner === next.clusterHost?.owner;
    if (!isSame) this.#options.changed(next);
  }
}

/** Takes the lease if it is free, renews what this host holds, and returns who holds what. */
async function takeTurn({ admin, host, store }: LeaseOptions, claimsCluster: boolean): Promise<Standing> {
  const now = await store.now();
  const own = { owner: host.id, place: host.place, network: host.network, admin: admin(), until: now + HELD_MS };
  return store.exclusively(async (tx) => {
    let leader = await holderIn(tx, LEADER);
    if (leader === null || leader.owner === host.id || leader.until <= now) {
      leader = own;
      await write(tx, LEADER, own);
    }
    const isLeader = leader.owner === host.id;
    let clusterHost = await holderIn(tx, CLUSTER_HOST);
    // A data folder that was lost and created again has another id.
    const isLost = clusterHost !== null && clusterHost.place === host.place && clusterHost.until <= now;
    if (claimsCluster || isLost || clusterHost?.owner === host.id || (clusterHost === null && isLeader)) {
      clusterHost = own;
      await write(tx, CLUSTER_HOST, own);
    }
    return { leader, isLeader, clusterHost, isClusterHere: clusterHost?.owner === host.id, now };
  }, 'past-crashes');
}

async function holderIn(tx: StoreTransaction, name: string): Promise<LeaseHolder | null> {
  const row = await tx.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  return row === undefined ? null : (JSON.parse(row.value) as LeaseHolder);
}

async function write(tx: StoreTransaction, name: string, holder: LeaseHolder): Promise<void> {
  const value = JSON.stringify(holder);
  await tx
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}
