import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ManagedRoutes } from '../gateway/fleet/managed-routes.js';
import type { Store } from '../store/open-store.js';
import { holdsSecrets } from '../store/resources/holds-secrets.js';
import { SecretBox } from '../store/resources/secrets.js';
import { ChangeFeed } from './change-feed.js';
import { ControlLease } from './control-lease.js';
import { heldFolder, isFolderInUse, lostKeyFile, otherControlPlane } from './errors.js';
import { KnownSecrets } from './known-secrets.js';
import { ModelCache } from './models/cache/model-cache.js';
import { startReconcilers } from './reconcile/start-reconcilers.js';
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
  readonly runner: Pick<Runner, 'list' | 'logs' | 'watch'>;
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
  /** Called when this control plane owns the folder and the store. */
  readonly onHeld: () => void;
  /** Called with errors that are not caused by a resource. */
  readonly onFault: (error: unknown) => void;
  /** Called when another control plane has taken over. */
  readonly onLost: (problem: Error) => void;
}

/**
 * Reconciles declared resources, from when it is opened until it is closed or another one takes over. Replicas outlive
 * it: the next control plane of the same folder finds them.
 */
export class ControlPlane {
  readonly #host: ControlHost;
  readonly #ending: Ending;

  private constructor(host: ControlHost, ending: Ending) {
    this.#host = host;
    this.#ending = ending;
  }

  /** Throws when another control plane has taken over: changes made here would not be reconciled. */
  get host(): ControlHost {
    if (this.#ending.lost !== null) throw this.#ending.lost;
    return this.#host;
  }

  /**
   * Opens it, adopts running replicas, and gives the gateway their routes. Throws an error that `isControlElsewhere`
   * accepts when another control plane is active.
   */
  static async open(options: ControlPlaneOptions): Promise<ControlPlane> {
    const ending: Ending = { opened: [], lost: null };
    try {
      const host = await openAll(options, ending);
      if (ending.lost !== null) throw ending.lost;
      return new ControlPlane(host, ending);
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
  /** Set when another control plane has taken over. */
  lost: Error | null;
}

async function openAll(options: ControlPlaneOptions, ending: Ending): Promise<ControlHost> {
  const { dataDir, onFault, onHeld, onLost, replicaUser = null, routes, self, url } = options;
  const { opened } = ending;
  const known = new KnownSecrets();
  const runners = await openRunners(options, known);
  opened.push(() => runners.close());
  const lease = await ControlLease.take(options.store, dataDir, (holder) => {
    ending.lost = otherControlPlane(options.store.address, holder);
    onLost(ending.lost);
    void closeAll(ending).catch(onFault);
  });
  opened.push(() => lease.release().catch(onFault));
  const store = new ControlStore(options.store, known.remembering(await openSecrets(options)));
  onHeld();
  for (const secret of options.knownSecrets?.() ?? []) known.add(secret);
  await installDefaults(store);
  const feed = await ChangeFeed.open(store.resources);
  opened.push(() => feed.close());
  const cache = await ModelCache.open(join(dataDir, 'models'));
  if (replicaUser !== null) separateFrom(replicaUser, dataDir);
  const urlOf = (workspace: string, name: string) => `${url()}/workspace/${workspace}/endpoint/${name}/v1`;
  opened.push(await startReconcilers({ store, runners, routes, cache, self, urlOf, onFault }));
  return { store, feed, runner: runners };
}

/** Locks the folder, which is created if need be. */
async function openRunners(
  { dataDir, onFault, replicaUser: user = null, runnerTypes }: ControlPlaneOptions,
  { scrub }: KnownSecrets,
): Promise<ClusterRunners> {
  const types = runnerTypes === undefined ? {} : { types: runnerTypes };
  try {
    return await ClusterRunners.open({ folder: join(dataDir, 'runner'), onFault, user, scrub, ...types });
  } catch (error) {
    throw isFolderInUse(error) ? heldFolder(dataDir) : error;
  }
}

/** A key file is created only while no secrets are stored. */
async function openSecrets({ dataDir, store }: ControlPlaneOptions): Promise<SecretBox> {
  const path = join(dataDir, 'secrets.key');
  if (!existsSync(path) && (await holdsSecrets(store))) throw lostKeyFile(path, store.address);
  return SecretBox.open(path);
}

async function closeAll({ opened }: Ending): Promise<void> {
  for (const close of opened.splice(0).reverse()) await close();
}
