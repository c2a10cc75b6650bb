import { createHash } from 'node:crypto';
import type { Store } from '../store/open-store.js';
import type { Elect, Election, LeadCandidate } from './election.js';
import { noLeaderNow, otherControlPlane } from './errors.js';
import type { HostIdentity } from './host-identity.js';
import {
  HELD_MS,
  isHeldBy,
  LEADER,
  type LeaseClaim,
  type LeaseHolder,
  releaseRecords,
  type Standing,
  takeTurn,
} from './lease-records.js';

/** How often a follower looks whether the lease is free. */
const LOOK_MS = 1000;
/** The lease is renewed with every tenth look. */
const RENEW_EVERY = 10;

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
  /** Decides who leads; null: the lease in the store does. */
  readonly elect?: Elect | null;
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
 * Where an election outside of the store decides, the winner writes itself into the store: the others find it there, and `fence`
 * works as before. A leader that the election has not confirmed in time does not lead until it is confirmed.
 *
 * The local cluster belongs to the host of its first leader, also when another host leads: only that host sees its replicas.
 */
export class ControlLease {
  readonly #options: LeaseOptions;
  readonly #clock: () => number;
  #timer: NodeJS.Timeout | undefined;
  #isOpen = false;
  /** The end of this folder's claim to the local cluster before the folder was moved; null if it was not. */
  #movedUntil: number | null = null;
  #election: Election | null = null;
  #standing: Standing = NOBODY;
  /** By `#clock`, and not later than by the store's. */
  #heldUntil = 0;
  /** The election has not confirmed this process since the last look that it led at. */
  #isUnconfirmed = false;
  #looks = 0;
  #isRenewalDue = false;
  /** The look under way. */
  #looking: Promise<void> | null = null;

  private constructor(options: LeaseOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  /** Leads if no other control plane does. The caller must have locked the folder. */
  static async open(options: LeaseOptions): Promise<ControlLease> {
    const lease = new ControlLease(options);
    await lease.#open();
    return lease;
  }

  async #open(): Promise<void> {
    const { claimsCluster, elect = null, host } = this.#options;
    this.#heldUntil = this.#clock() + HELD_MS;
    this.#election = elect === null ? null : await elect(this.#candidate());
    try {
      this.#heldUntil = this.#clock() + HELD_MS;
      this.#standing = await this.#takeTurn({ mayLead: true, claimsCluster, movedUntil: 'any' });
    } catch (error) {
      await this.#election?.release();
      throw error;
    }
    const { clusterHost, isClusterHere } = this.#standing;
    const isMoved = !isClusterHere && clusterHost?.owner === host.id;
    this.#movedUntil = isMoved ? clusterHost.until : null;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
    this.#isOpen = true;
  }

  /** As of the last time the lease was read. */
  get standing(): Standing {
    return this.#standing;
  }

  /** Where the leader is; null when it is this process. */
  get elsewhere(): Error | null {
    const { isLeader, leader } = this.#standing;
    if (isLeader) return null;
    const isKnown = leader !== null && !isHeldBy(leader, this.#options.host);
    return isKnown ? otherControlPlane(leader) : noLeaderNow();
  }

  /** The election that decides; null: the store does. */
  get electedBy(): string | null {
    return this.#election?.name ?? null;
  }

  /** Whether this process leads and no other one can have taken over. */
  get isLeading(): boolean {
    return this.#standing.isLeader && !this.#hasLapsed && !this.#isUnconfirmed && (this.#election?.isHeld ?? true);
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
    this.#isOpen = false;
    // It could renew the lease after its release.
    await this.#looking;
    try {
      await releaseRecords(this.#options.store, this.#options.host);
    } finally {
      // Last: the next leader finds the store as it will be.
      await this.#election?.release();
    }
  }

  #look(): void {
    if (!this.#isOpen) return;
    if (++this.#looks % RENEW_EVERY === 0) this.#isRenewalDue = true;
    if (this.#standing.isLeader && this.#election?.isHeld === false) this.#isUnconfirmed = true;
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
    const isConfirmed = this.#isUnconfirmed && this.#election?.isHeld === true;
    if (!isRenewal && !isFree && !this.#hasLapsed && !isConfirmed) return;
    const heldUntil = this.#clock() + HELD_MS;
    // An election has asked before.
    const mayLead = isFree && this.#election === null && (await this.#options.mayLead());
    this.#become(await this.#takeTurn({ mayLead, claimsCluster: false, movedUntil: this.#movedUntil }), heldUntil);
  }

  #takeTurn(claim: LeaseClaim): Promise<Standing> {
    const election = this.#election;
    const elected = election === null ? null : { by: election.name, isHeld: () => election.isHeld };
    return takeTurn(this.#options, { ...claim, elected, wasLeader: this.#standing.isLeader });
  }

  #candidate(): LeadCandidate {
    const { host, mayLead } = this.#options;
    return {
      identity: identityOf(host),
      mayLead,
      // Without the store nothing can be done here, but perhaps elsewhere.
      isAble: () => this.#clock() < this.#heldUntil,
      changed: () => this.#look(),
    };
  }

  async #isFree(): Promise<boolean> {
    if (this.#election !== null) return this.#election.isHeld;
    const { store } = this.#options;
    const text = await store.settings.get(LEADER);
    return text === null || (JSON.parse(text) as LeaseHolder).until <= (await store.now());
  }

  #become(next: Standing, heldUntil: number): void {
    const before = this.#standing;
    const hadLapsed = this.#hasLapsed || (this.#isUnconfirmed && this.#election?.isHeld === true);
    if (this.#election?.isHeld ?? true) this.#isUnconfirmed = false;
    this.#standing = next;
    this.#heldUntil = heldUntil;
    const isSame =
      before.isLeader === next.isLeader &&
      before.leader?.owner === next.leader?.owner &&
      before.isClusterHere === next.isClusterHere &&
      before.clusterHost?.owner === next.clusterHost?.owner;
    if (!isSame || hadLapsed) this.#options.changed(next);
  }
}

/** Before the store was read. */
const NOBODY: Standing = { leader: null, isLeader: false, clusterHost: null, isClusterHere: false, now: 0 };

/** As `isHeldBy` compares it, in the form that clients of Kubernetes use: the host, and what makes it unique. */
const identityOf = ({ boot, id, place }: HostIdentity) =>
  `${place.slice(0, place.indexOf(':'))}_${createHash('sha256').update(`${id} ${place} ${boot}`).digest('hex').slice(0, 16)}`;
