import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ManagedRoutes } from '../gateway/fleet/managed-routes.js';
import type { Store } from '../store/open-store.js';
import { holdsSecrets } from '../store/resources/holds-secrets.js';
import { SecretBox } from '../store/resources/secrets.js';
import { ChangeFeed } from './api/change-feed.js';
import type { ControlHost } from './api/control-route.js';
import { ControlLease } from './control-lease.js';
import { heldFolder, isFolderInUse, lostKeyFile, otherControlPlane } from './errors.js';
import { ModelCache } from './models/cache/model-cache.js';
import { keepTrue } from './reconcile/keep-true.js';
import { LocalRunner, type LocalRunnerOptions } from './runner/local/local-runner.js';
import { ControlStore } from './store/control-store.js';
import { installDefaults } from './store/install-defaults.js';

export interface ControlPlaneOptions {
  readonly store: Store;
  /** Where replicas, models and the key of secrets are kept. */
  readonly dataDir: string;
  readonly routes: ManagedRoutes;
  /** How this very program is started, for engines that are part of it. */
  readonly self: readonly string[];
  /** Where clients ask the gateway. */
  readonly url: () => string;
  readonly runner?: Partial<LocalRunnerOptions>;
  /** Hears that the folder and the store are this control plane's: what others find it by may be written. */
  readonly onHeld: () => void;
  /** Hears of what should not happen. */
  readonly onFault: (error: unknown) => void;
  /** Hears that another control plane has taken over. */
  readonly onLost: (problem: Error) => void;
}

/**
 * Keeps what is declared true, from when it is opened until it is closed or another one has taken over. Replicas outlive it: the
 * next one of the same folder finds them.
 */
export class ControlPlane {
  readonly #host: ControlHost;
  readonly #ending: Ending;

  private constructor(host: ControlHost, ending: Ending) {
    this.#host = host;
    this.#ending = ending;
  }

  /** Throws when another control plane has taken over: what is changed here would be seen by nobody who keeps it true. */
  get host(): ControlHost {
    if (this.#ending.lost !== null) throw this.#ending.lost;
    return this.#host;
  }

  /**
   * Opens it, finds replicas that run already, and gives the gateway their routes. Throws what `isControlElsewhere` knows when
   * another control plane does this work.
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

  /** How many replicas run. */
  async running(): Promise<number> {
    return (await this.#host.runner.list()).filter(({ phase }) => phase !== 'exited').length;
  }

  /** Changes nothing more; replicas, and those who ask them, go on. */
  close(): Promise<void> {
    return closeAll(this.#ending);
  }
}

interface Ending {
  /** What is to be closed, in the order in which it was opened. */
  readonly opened: (() => unknown)[];
  /** Who has taken over. */
  lost: Error | null;
}

async function openAll(options: ControlPlaneOptions, ending: Ending): Promise<ControlHost> {
  const { dataDir, onFault, onHeld, onLost, routes, self, url } = options;
  const { opened } = ending;
  const { keys } = options.store;
  const runner = await openRunner(options);
  opened.push(() => runner.close());
  const lease = await ControlLease.take(options.store, dataDir, (holder) => {
    ending.lost = otherControlPlane(options.store.address, holder);
    onLost(ending.lost);
    void closeAll(ending).catch(onFault);
  });
  opened.push(() => lease.release().catch(onFault));
  const store = new ControlStore(options.store, await openSecrets(options));
  onHeld();
  await installDefaults(store);
  const feed = await ChangeFeed.open(store.resources);
  opened.push(() => feed.close());
  const cache = await ModelCache.open(join(dataDir, 'models'));
  const urlOf = (workspace: string, name: string) => `${url()}/workspace/${workspace}/endpoint/${name}/v1`;
  opened.push(await keepTrue({ store, keys, runner, routes, cache, self, urlOf, onFault }));
  return { store, feed, keys, runner };
}

/** Takes the folder, which is made if need be. */
async function openRunner({ dataDir, onFault, runner }: ControlPlaneOptions): Promise<LocalRunner> {
  try {
    return await LocalRunner.open({ ...runner, folder: join(dataDir, 'runner'), onFault });
  } catch (error) {
    throw isFolderInUse(error) ? heldFolder(dataDir) : error;
  }
}

/** A key file is made where there are no secrets yet, and nowhere else. */
async function openSecrets({ dataDir, store }: ControlPlaneOptions): Promise<SecretBox> {
  const path = join(dataDir, 'secrets.key');
  if (!existsSync(path) && (await holdsSecrets(store))) throw lostKeyFile(path, store.address);
  return SecretBox.open(path);
}

async function closeAll({ opened }: Ending): Promise<void> {
  for (const close of opened.splice(0).reverse()) await close();
}
