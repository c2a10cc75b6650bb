import type { Store, StoreTransaction } from '../store/open-store.js';
import { otherControlPlane } from './errors.js';
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
  readonly boot: string;
  readonly network: string;
  /** Its admin API. */
  readonly admin: string;
  /** The id of the key that encrypts its secrets. */
  readonly key: string;
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
  /** The id of the key that encrypts secrets. */
  readonly key: string;
  /** The replicas of the local cluster run here from now on, also if it belongs to another host. */
  readonly claimsCluster: boolean;
  /** Whether a follower can take over; read when the lease is free. */
  readonly mayLead: () => Promise<boolean>;
  /** Called when another process leads, when another host has the local cluster, and when a lease that had lapsed is held again. */
  readonly changed: (standing: Standing) => void;
  /** In milliseconds, running on while the process is stopped. */
  readonly clock?: () => number;
}

/**
 * Which of the control planes of a store leads: one at a time, and another one within 30 seconds after the leader was killed.
 * The lease belongs to a data folder, not to a process: after a crash the next process of the folder has it at once, and the
 * folder's own lock excludes a second one. A copy of the folder elsewhere is another host.
 *
 * A leader that was stopped for longer than its lease may have a successor: it does not lead until it has renewed the lease, and
 * `fence` refuses its changes.
 *
 * The local cluster belongs to the host of its first leader, also when another host leads: only that host sees its replicas.
 */
export class ControlLease {
  readonly #options: LeaseOptions;
  readonly #clock: () => number;
  readonly #timer: NodeJS.Timeout;
  /** The end of this folder's claim to the local cluster before the folder was moved; null if it was not. */
  readonly #movedUntil: number | null;
  #standing: Standing;
  /** By `#clock`, and not later than by the store's. */
  #heldUntil: number;
  #looks = 0;
  #isRenewalDue = false;
  /** The look under way. */
  #looking: Promise<void> | null = null;

  private constructor(options: LeaseOptions, standing: Standing, heldUntil: number) {
    this.#options = options;
    this.#clock = clockOf(options);
    this.#standing = standing;
    this.#heldUntil = heldUntil;
    const { clusterHost, isClusterHere } = standing;
    const isMoved = !isClusterHere && clusterHost?.owner === options.host.id;
    this.#movedUntil = isMoved ? clusterHost.until : null;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Leads if no other control plane does. The caller must have locked the folder. */
  static async open(options: LeaseOptions): Promise<ControlLease> {
    const heldUntil = clockOf(options)() + HELD_MS;
    const claim = { mayLead: true, claimsCluster: options.claimsCluster, movedUntil: 'any' } as const;
    return new ControlLease(options, await takeTurn(options, claim), heldUntil);
  }

  /** As of the last time the lease was read. */
  get standing(): Standing {
    return this.#standing;
  }

  /** Whether this process leads and no other one can have taken over. */
  get isLeading(): boolean {
    return this.#standing.isLeader && !this.#hasLapsed;
  }

  get #hasLapsed(): boolean {
    return this.#standing.isLeader && this.#clock() >= this.#heldUntil;
  }

  /**
   * Throws if another process leads. Inside a transaction it cannot be overtaken: the lease is taken under the same lock.
   * @param setting reads a setting in the transaction
   */
  async fence(setting: (name: string) => Promise<string | null>): Promise<void> {
    const text = await setting(LEADER);
    if (text === null) return;
    const leader = JSON.parse(text) as LeaseHolder;
    if (!isHeldBy(leader, this.#options.host)) throw otherControlPlane(leader);
  }

  /** Others can take it at once. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    // It could renew the lease after its release.
    await this.#looking;
    const { host, store } = this.#options;
    await store.exclusively(async (tx) => {
      for (const name of [LEADER, CLUSTER_HOST]) {
        const holder = await holderIn(tx, name);
        if (holder !== null && isHeldBy(holder, host)) await write(tx, name, { ...holder, until: 0 });
      }
    });
  }

  #look(): void {
    if (++this.#looks % RENEW_EVERY === 0) this.#isRenewalDue = true;
    if (this.#looking !== null || (this.isLeading && !this.#isRenewalDue)) return;
    const isRenewal = this.#isRenewalDue;
    this.#isRenewalDue = false;
    const looking = this.#lookAt(isRenewal).catch(() => {
      // Tried again with the next look.
      this.#isRenewalDue ||= isRenewal;
    });
    this.#looking = looking.then(() => {
      this.#looking = null;
    });
  }

  async #lookAt(isRenewal: boolean): Promise<void> {
    const isFree = !this.#standing.isLeader && (await this.#isFree());
    if (!isRenewal && !isFree && !this.#hasLapsed) return;
    const heldUntil = this.#clock() + HELD_MS;
    const mayLead = isFree && (await this.#options.mayLead());
    const claim = { mayLead, claimsCluster: false, movedUntil: this.#movedUntil };
    this.#become(await takeTurn(this.#options, claim), heldUntil);
  }

  async #isFree(): Promise<boolean> {
    const { store } = this.#options;
    const text = await store.settings.get(LEADER);
    return text === null || (JSON.parse(text) as LeaseHolder).until <= (await store.now());
  }

  #become(next: Standing, heldUntil: number): void {
    const before = this.#standing;
    const hadLapsed = this.#hasLapsed;
    this.#standing = next;
    this.#heldUntil = heldUntil;
    const isSame =
      before.isLeader === next.isLeader &&
      before.leader.owner === next.leader.owner &&
      before.isClusterHere === next.isClusterHere &&
      before.clusterHost?.owner === next.clusterHost?.owner;
    if (!isSame || hadLapsed) this.#options.changed(next);
  }
}

const clockOf = ({ clock = () => performance.now() }: LeaseOptions) => clock;

interface LeaseClaim {
  /** Whether to take a lease that is free. */
  readonly mayLead: boolean;
  readonly claimsCluster: boolean;
  /** The local cluster of this folder at another place is taken if its claim ended at this time. */
  readonly movedUntil: number | 'any' | null;
}

/** Takes the lease if it is free, renews what this host holds, and returns who holds what. */
async function takeTurn({ admin, host, key, store }: LeaseOptions, claim: LeaseClaim): Promise<Standing> {
  const now = await store.now();
  const { boot, id, network, place } = host;
  const own = { owner: id, place, boot, network, admin: admin(), key, until: now + HELD_MS };
  return store.exclusively(async (tx) => {
    let leader = await holderIn(tx, LEADER);
    if (leader === null || isHeldBy(leader, host) || (leader.until <= now && claim.mayLead)) {
      leader = own;
      await write(tx, LEADER, own);
    }
    const isLeader = leader === own;
    let clusterHost = await holderIn(tx, CLUSTER_HOST);
    const isOurs =
      clusterHost === null ? isLeader : isHeldBy(clusterHost, host) || isLeft(clusterHost, host, claim, now);
    if (claim.claimsCluster || isOurs) {
      clusterHost = own;
      await write(tx, CLUSTER_HOST, own);
    }
    return { leader, isLeader, clusterHost, isClusterHere: clusterHost === own, now };
  }, 'past-crashes');
}

/** By this folder, on this machine since it was booted: a folder that was copied has the same id. */
const isHeldBy = ({ boot, owner, place }: LeaseHolder, host: HostIdentity) =>
  owner === host.id && place === host.place && boot === host.boot;

/** A data folder that was lost and created again has another id, one that was moved or whose machine was booted another place. */
function isLeft({ owner, place, until }: LeaseHolder, host: HostIdentity, claim: LeaseClaim, now: number): boolean {
  if (until > now) return false;
  return place === host.place || (owner === host.id && (claim.movedUntil === 'any' || claim.movedUntil === until));
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
