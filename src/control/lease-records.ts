import type { Store, StoreTransaction } from '../store/open-store.js';
import type { HostIdentity } from './host-identity.js';

export const LEADER = 'control_plane';
const CLUSTER_HOST = 'cluster_host';
export const HELD_MS = 30_000;

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
  /** What it was elected by; absent: by the store. */
  readonly election?: string;
}

/** Who leads, and whose machine is the local cluster. */
export interface Standing {
  /** Null before the first one was elected. */
  readonly leader: LeaseHolder | null;
  readonly isLeader: boolean;
  /** Null before the first leader has claimed it. */
  readonly clusterHost: LeaseHolder | null;
  readonly isClusterHere: boolean;
  /** By the store's clock. */
  readonly now: number;
}

/** The control plane that claims. */
interface ClaimParts {
  readonly store: Store;
  readonly host: HostIdentity;
  readonly admin: () => string;
  readonly key: string;
}

export interface LeaseClaim {
  /** Whether to take a lease that is free. */
  readonly mayLead: boolean;
  readonly claimsCluster: boolean;
  /** The local cluster of this folder at another place is taken if its claim ended at this time. */
  readonly movedUntil: number | 'any' | null;
}

export interface ElectedClaim extends LeaseClaim {
  /** Where an election decides; read in the transaction. */
  readonly elected: { readonly by: string; readonly isHeld: () => boolean } | null;
  readonly wasLeader: boolean;
}

/** Takes the lease if it is free, renews what this host holds, and returns who holds what. */
export async function takeTurn({ admin, host, key, store }: ClaimParts, claim: ElectedClaim): Promise<Standing> {
  const now = await store.now();
  const { boot, id, network, place } = host;
  const by = claim.elected === null ? {} : { election: claim.elected.by };
  const own = { owner: id, place, boot, network, admin: admin(), key, until: now + HELD_MS, ...by };
  return store.exclusively(async (tx) => {
    let leader = await holderIn(tx, LEADER);
    const isTaken = mayWrite(leader, host, claim, now);
    // A leader that waits for its confirmation accepts changes: until another one has been written, there is none.
    const isLeader = isTaken || (claim.wasLeader && leader !== null && isHeldBy(leader, host));
    if (isTaken) {
      leader = own;
      await write(tx, LEADER, own);
    }
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

function mayWrite(leader: LeaseHolder | null, host: HostIdentity, claim: ElectedClaim, now: number): boolean {
  const { elected, mayLead } = claim;
  if (elected === null) return leader === null || isHeldBy(leader, host) || (leader.until <= now && mayLead);
  if (!elected.isHeld()) return false;
  // One that was elected in another way does not know of this election: its lease has to expire.
  return leader === null || isHeldBy(leader, host) || leader.election === elected.by || leader.until <= now;
}

/** By this folder, on this machine since it was booted: a folder that was copied has the same id. */
export const isHeldBy = ({ boot, owner, place }: LeaseHolder, host: HostIdentity) =>
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

/** Others can take what this host holds. */
export async function releaseRecords(store: Store, host: HostIdentity): Promise<void> {
  await store.exclusively(async (tx) => {
    for (const name of [LEADER, CLUSTER_HOST]) {
      const holder = await holderIn(tx, name);
      if (holder !== null && isHeldBy(holder, host)) await write(tx, name, { ...holder, until: 0 });
    }
  });
}
