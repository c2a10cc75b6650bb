import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ManagedRoutes } from '../gateway/fleet/managed-routes.js';
import type { Store } from '../store/open-store.js';
import { holdsSecrets } from '../store/resources/holds-secrets.js';
import { SecretBox } from '../store/resources/secrets.js';
import { ChangeFeed } from './change-feed.js';
import { ControlLease } from './control-lease.js';
import type { Elect } from './election.js';
import {
  cannotTakeOver,
  followerKey,
  heldFolder,
  hostAway,
  isFolderInUse,
  lostKeyFile,
  otherElection,
  wrongKeyFile,
} from './errors.js';
import { hostIdentity } from './host-identity.js';
import { KnownSecrets } from './known-secrets.js';
import type { Standing } from './lease-records.js';
import { ModelCache } from './models/cache/model-cache.js';
import { PolicyRestorer } from './policy-restorer.js';
import { systemTiming } from './reconcile/queue/timing.js';
import type { Scope } from './reconcile/scope.js';
import { type StartedReconcilers, startReconcilers } from './reconcile/start-reconcilers.js';
import { loadParameterChecks } from './resources/parameter-schema.js';
import { ClusterRunners } from './runner/cluster-runners.js';
import type { ReplicaUser, Runner } from './runner/contract.js';
import { separateFrom } from './runner/local/process/replica-user.js';
import type { RunnerType } from './runner/runner-type.js';
import { ControlStore } from './store/control-store.js';
import { installDefaults } from './store/install-defaults.js';

/** An open control plane as the API uses it. */
export interface ControlHost {
  readonly store: ControlStore;
  readonly feed: ChangeFeed;
  readonly runner: Pick<Runner, 'list' | 'logs' | 'watch'> & Pick<ClusterRunners, 'previousLog'>;
  /** Another replica takes the place of this one of `runner`, which leaves when enough others serve. */
  readonly drain: StartedReconcilers['drain'];
}

export interface ControlPlaneOptions {
  readonly store: Store;
  /** Holds replicas, models and the key that encrypts secrets. */
  readonly dataDir: string;
  readonly routes: ManagedRoutes;
  /** The command of this program, for engines that are part of it. */
  readonly self: readonly string[];
  /** The base URL of the gateway for clients. */
  readonly url: () => string;
  /** Every known one by default. */
  readonly runnerTypes?: readonly RunnerType[];
  /** Replicas on this machine run as this user, which can read nothing else of the data folder; null: as that of this process. */
  readonly replicaUser?: ReplicaUser | null;
  /** Secrets besides those of resources, read when it owns the folder: they are removed from logs of replicas. */
  readonly knownSecrets?: () => readonly string[];
  /** The base URL of its admin API. */
  readonly adminUrl: () => string;
  /** The replicas of the local cluster run here from now on: its former host is lost. */
  readonly claimsCluster?: boolean;
  /** Elects the leader; null: the lease in the store does. */
  readonly elect?: Elect | null;
  /** Stored secrets that the key cannot decrypt are given up. */
  readonly acceptsKey?: boolean;
  /** Called when this control plane owns the folder. */
  readonly onHeld: () => void;
  /** Called with errors that are not caused by a resource. */
  readonly onFault: (error: unknown) => void;
  /** Called with what the operator has to change. */
  readonly onWarning: (line: string) => void;
  /** Called when this control plane has taken over from another one. */
  readonly onLead: () => void;
  /** Called when another control plane has taken over. */
  readonly onLost: (problem: Error) => void;
}

/**
 * Reconciles declared resources from when it is opened until it is closed. Among several control planes of a store one leads:
 * it accepts changes and reconciles what belongs to no host. The others follow: they route to all endpoints, run the
 * replicas of their own host, and take over when the leader is gone. Replicas outlive it: the next control plane of the same folder
 * finds them.
 */
export class ControlPlane {
  readonly #host: ControlHost;
  readonly #lease: ControlLease;
  readonly #ending: Ending;

  private constructor({ host, lease }: Opened, ending: Ending) {
    this.#host = host;
    this.#lease = lease;
    this.#ending = ending;
  }

  /** Throws while another control plane leads: changes are made there. */
  get host(): ControlHost {
    const { leader } = this;
    if (leader !== null) throw leader;
    return this.#host;
  }

  /** Where the leader is; null when it is this one. */
  get leader(): Error | null {
    return this.#lease.elsewhere;
  }

  /** Whether it may act as the leader now. */
  get isLeading(): boolean {
    return this.#lease.isLeading;
  }

  /**
   * Opens it, adopts running replicas, and gives the gateway the routes of all endpoints. Throws an error that
   * `isControlElsewhere` accepts when another control plane uses the folder.
   */
  static async open(options: ControlPlaneOptions): Promise<ControlPlane> {
    const ending: Ending = { opened: [] };
    try {
      return new ControlPlane(await openAll(options, ending), ending);
    } catch (error) {
      await closeAll(ending);
      throw error;
    }
  }

  /** The number of running replicas. */
  async running(): Promise<number> {
    return (await this.#host.runner.list()).filter(({ phase }) => phase !== 'exited').length;
  }

  /** Stops reconciling; replicas keep running and serving. */
  close(): Promise<void> {
    return closeAll(this.#ending);
  }
}

interface Ending {
  /** What has to be closed, in the order in which it was opened. */
  readonly opened: (() => unknown)[];
}

interface Opened {
  readonly host: ControlHost;
  readonly lease: ControlLease;
}

async function openAll(options: ControlPlaneOptions, ending: Ending): Promise<Opened> {
  const {
    adminUrl,
    claimsCluster = false,
    dataDir,
    elect = null,
    onFault,
    onHeld,
    onLead,
    onLost,
    onWarning,
  } = options;
  const { replicaUser = null, routes, self, url } = options;
  const { opened } = ending;
  const known = new KnownSecrets();
  let isLeading = () => false;
  const runners = await openRunners(options, known, () => isLeading());
  opened.push(() => runners.close());
  const box = await openSecrets(options);
  let changed: (standing: Standing) => void = () => {};
  const host = hostIdentity(dataDir);
  const lease = await ControlLease.open({
    ...{ store: options.store, host, admin: adminUrl, key: box.id, claimsCluster, elect },
    mayLead: takeOverCheck(options, box),
    changed: (standing) => changed(standing),
  });
  opened.push(() => lease.release().catch(onFault));
  isLeading = () => lease.isLeading;
  const { leader } = lease.standing;
  if (leader !== null && leader.key !== box.id) onWarning(followerKey(keyPath(dataDir), leader));
  const isOther = leader !== null && leader.until > lease.standing.now && (leader.election ?? null) !== lease.electedBy;
  if (isOther) onWarning(otherElection(lease.electedBy, leader));
  const store = new ControlStore(options.store, known.remembering(box), (tx) =>
    lease.fence((name) => tx.setting(name)),
  );
  onHeld();
  for (const secret of options.knownSecrets?.() ?? []) known.add(secret);
  const restorer = new PolicyRestorer({ store, timing: systemTiming, isLeading: () => lease.isLeading, onFault });
  opened.push(() => restorer.close());
  const lead = async () => {
    try {
      await installDefaults(store);
    } finally {
      await restorer.begin();
    }
  };
  if (lease.standing.isLeader) await lead();
  const feed = await ChangeFeed.open(store.resources);
  opened.push(() => feed.close());
  const cache = await ModelCache.open(join(dataDir, 'models'));
  if (replicaUser !== null) separateFrom(replicaUser, dataDir);
  const urlOf = (workspace: string, name: string) => `${url()}/workspace/${workspace}/endpoint/${name}/v1`;
  const scope = scopeOf(lease, runners, host.network);
  const hasOtherGateways = () => hasSeveralGateways(options.store);
  const started = { store, runners, routes, cache, self, urlOf, onFault, scope, hasOtherGateways };
  const reconcilers = await startReconcilers(started);
  opened.push(() => reconcilers.close());
  loadParameterChecks();
  let wasLeader = lease.standing.isLeader;
  changed = ({ isLeader }) => {
    const takesOver = isLeader && !wasLeader;
    if (takesOver) onLead();
    else if (wasLeader && !isLeader) onLost(lease.elsewhere!);
    wasLeader = isLeader;
    void reconcilers.reconsider(takesOver ? lead : undefined).catch(onFault);
  };
  return { host: { store, feed, runner: runners, drain: reconcilers.drain }, lease };
}

function scopeOf(lease: ControlLease, runners: ClusterRunners, network: string): Scope {
  const isLocal = (cluster: string) => runners.typeOf(cluster)?.runsHere === true;
  return {
    isLeader: () => lease.isLeading,
    isHere: (cluster) => (isLocal(cluster) ? lease.standing.isClusterHere : lease.isLeading),
    sharesLoopback: () => lease.standing.clusterHost?.network === network,
    hostProblem(cluster) {
      const { clusterHost, isLeader, now } = lease.standing;
      if (!isLeader || !isLocal(cluster) || clusterHost === null || clusterHost.until > now) return null;
      return hostAway(cluster, clusterHost.place);
    },
  };
}

/** Gateways report every few seconds. */
const SEEN_MS = 30_000;

async function hasSeveralGateways(store: Store): Promise<boolean> {
  const since = (await store.now()) - SEEN_MS;
  const rows = await store.db.selectFrom('gateways').select('id').where('seen_at', '>', since).execute();
  return rows.length > 1;
}

/** Locks the folder, which is created if need be. */
async function openRunners(
  { dataDir, onFault, replicaUser: user = null, runnerTypes }: ControlPlaneOptions,
  { scrub }: KnownSecrets,
  isLeading: () => boolean,
): Promise<ClusterRunners> {
  const types = runnerTypes === undefined ? {} : { types: runnerTypes };
  try {
    return await ClusterRunners.open({ folder: join(dataDir, 'runner'), onFault, user, scrub, isLeading, ...types });
  } catch (error) {
    throw isFolderInUse(error) ? heldFolder(dataDir) : error;
  }
}

const keyPath = (dataDir: string) => join(dataDir, 'secrets.key');

/** A key file is created only while no secrets are stored; with secrets of another key nothing could be started. */
async function openSecrets(options: ControlPlaneOptions): Promise<SecretBox> {
  const { dataDir, store } = options;
  const path = keyPath(dataDir);
  if (!existsSync(path) && (await holdsSecrets(store))) throw lostKeyFile(path, store.address);
  const box = SecretBox.open(path);
  const problem = await keyProblem(options, box);
  if (problem !== null) throw problem;
  return box;
}

async function keyProblem(
  { acceptsKey = false, dataDir, store }: ControlPlaneOptions,
  { id }: SecretBox,
): Promise<Error | null> {
  const isUseful = acceptsKey || !(await holdsSecrets(store)) || (await holdsSecrets(store, id));
  return isUseful ? null : wrongKeyFile(keyPath(dataDir), store.address);
}

/** The leader may have stored the first secrets after this process was started with another key. */
function takeOverCheck(options: ControlPlaneOptions, box: SecretBox): () => Promise<boolean> {
  let isReported = false;
  return async () => {
    const problem = await keyProblem(options, box);
    if (problem !== null && !isReported) options.onWarning(cannotTakeOver(problem));
    isReported = problem !== null;
    return problem === null;
  };
}

async function closeAll({ opened }: Ending): Promise<void> {
  for (const close of opened.splice(0).reverse()) await close();
}
