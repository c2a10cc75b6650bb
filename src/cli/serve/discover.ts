import { gpuName } from '../../control/resources/fit/gpu-name.js';
import type { EndpointConfig, KubeSource, RayServeSource } from '../../gateway/config/gateway-config.js';
import { DiscoveredFleet } from '../../gateway/fleet/discovered-fleet.js';
import type { Fleet } from '../../gateway/fleet/fleet.js';
import type { ManagedReplica } from '../../gateway/fleet/managed-routes.js';
import { findAccess } from '../../kube/access/find-access.js';
import type { KubeReplica } from '../../kube/discovery/found-replicas.js';
import { KubeDiscovery } from '../../kube/discovery/kube-discovery.js';
import { KubeClient } from '../../kube/kube-client.js';
import { ServeDiscovery } from '../../ray/serve/serve-discovery.js';
import { counted } from '../../report/text/format-number.js';

/** A place where replicas of an endpoint are found. */
interface Followed {
  /** The configuration of it: another one is another place. */
  readonly source: string;
  readonly synced: Promise<void>;
  close(): Promise<void>;
}

type FoundReplica = Pick<ManagedReplica, 'id' | 'url' | 'healthPath' | 'hardware' | 'tp'>;
export type Found = (replicas: readonly FoundReplica[], problem: string | null) => void;

/** Serve itself serves it on the port of each replica: an application need not have one. */
const SERVE_HEALTH_PATH = '/-/healthz';

/** The port opens after the first list, or after this time. */
const FIRST_LIST_MS = 10_000;

/** Follows the replicas of all endpoints that are found in clusters. */
export class Discoveries {
  readonly #discovered: DiscoveredFleet;
  readonly #say: (line: string) => void;
  readonly #followed = new Map<string, Followed>();

  constructor(fleet: Fleet, say: (line: string) => void) {
    this.#discovered = new DiscoveredFleet(fleet);
    this.#say = say;
  }

  /** Follows the endpoints of a configuration, and those of an earlier one no longer. Throws an InputError without access. */
  follow(endpoints: readonly EndpointConfig[]): void {
    const wanted = new Map(
      endpoints.flatMap((one) => (discoverySource(one) === null ? [] : [[one.name, one] as const])),
    );
    for (const [name, followed] of this.#followed) {
      const endpoint = wanted.get(name);
      if (endpoint !== undefined && discoverySource(endpoint) === followed.source) continue;
      this.#followed.delete(name);
      void followed.close();
      if (endpoint === undefined) this.#discovered.clear(name);
    }
    for (const [name, endpoint] of wanted) {
      if (!this.#followed.has(name)) this.#followed.set(name, this.#start(endpoint));
    }
  }

  /** Resolves after the first list of all, or when it takes too long: the rest is found later. */
  async settled(): Promise<void> {
    const lists = [...this.#followed.values()].map(({ synced }) => synced);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FIRST_LIST_MS);
    });
    await Promise.race([Promise.all(lists), late]);
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    const all = [...this.#followed.values()];
    this.#followed.clear();
    await Promise.all(all.map((one) => one.close()));
  }

  #start(endpoint: EndpointConfig): Followed {
    const { kube, name, rayServe } = endpoint;
    const { target: _, ...described } = kube ?? rayServe!;
    return { source: discoverySource(endpoint)!, ...openDiscovery(endpoint, () => this.#found(name, described)) };
  }

  /** @param described what the configuration says of all of them, which comes first */
  #found(name: string, described: Omit<KubeSource | RayServeSource, 'target'>): Found {
    // Requests wait a moment for the first replica instead of being refused.
    this.#discovered.set(name, [], null);
    let before: string | null = null;
    let count = -1;
    return (replicas, problem) => {
      const configs = replicas.map((replica) => ({ ...replica, ...described, models: null }));
      const tooMany = this.#discovered.set(name, configs, problem);
      const kept = counted(replicas.length, 'replica');
      if (problem !== null && problem !== before) this.#say(`warning: endpoint '${name}' keeps ${kept}: ${problem}`);
      else if (replicas.length !== count || problem !== before) this.#say(`endpoint '${name}': ${kept} in the cluster`);
      if (tooMany > 0) this.#say(`warning: endpoint '${name}' has ${kept} and no room for ${tooMany} of them`);
      before = problem;
      count = replicas.length;
    };
  }
}

/** Null: it is not followed. */
export function discoverySource({ kube, rayServe }: EndpointConfig): string | null {
  return kube === undefined && rayServe === undefined ? null : JSON.stringify([kube, rayServe]);
}

/**
 * Follows where an endpoint finds its replicas. Throws an InputError without access.
 * @param begin called when there is access
 */
export function openDiscovery({ kube, rayServe }: EndpointConfig, begin: () => Found): Omit<Followed, 'source'> {
  return kube === undefined ? openServe(rayServe!, begin) : openKube(kube, begin);
}

function openKube({ target }: KubeSource, begin: () => Found): Omit<Followed, 'source'> {
  const client = new KubeClient(findAccess(target));
  const found = begin();
  const discovery = new KubeDiscovery({
    ...{ client, target },
    found: (replicas, problem) => found(replicas.map(withGpu), problem),
  });
  return { synced: discovery.synced, close: () => discovery.close().then(() => client.close()) };
}

function withGpu({ product, ...replica }: KubeReplica): FoundReplica {
  return product === undefined ? replica : { ...replica, hardware: gpuName(product) };
}

function openServe({ target }: RayServeSource, begin: () => Found): Omit<Followed, 'source'> {
  let found: Found | null = null;
  const discovery = new ServeDiscovery({
    target,
    found(replicas, problem) {
      found?.(
        replicas.map((replica) => ({ ...replica, healthPath: SERVE_HEALTH_PATH })),
        problem,
      );
    },
  });
  found = begin();
  return { synced: discovery.synced, close: () => discovery.close() };
}
