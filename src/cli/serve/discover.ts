import type { EndpointConfig, KubeSource } from '../../gateway/config/gateway-config.js';
import { DiscoveredFleet } from '../../gateway/fleet/discovered-fleet.js';
import type { Fleet } from '../../gateway/fleet/fleet.js';
import { findAccess } from '../../kube/access/find-access.js';
import { KubeDiscovery } from '../../kube/discovery/kube-discovery.js';
import { KubeClient } from '../../kube/kube-client.js';
import { counted } from '../../report/text/format-number.js';

interface Followed {
  readonly source: string;
  readonly client: KubeClient;
  readonly discovery: KubeDiscovery;
}

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
    const wanted = new Map(endpoints.flatMap(({ kube, name }) => (kube === undefined ? [] : [[name, kube] as const])));
    for (const [name, { client, discovery, source }] of this.#followed) {
      if (JSON.stringify(wanted.get(name)) === source) continue;
      this.#followed.delete(name);
      void discovery.close().then(() => client.close());
      if (!wanted.has(name)) this.#discovered.clear(name);
    }
    for (const [name, kube] of wanted) if (!this.#followed.has(name)) this.#followed.set(name, this.#start(name, kube));
  }

  /** Resolves after the first list of all, or when it takes too long: the rest is found later. */
  async settled(): Promise<void> {
    const lists = [...this.#followed.values()].map(({ discovery }) => discovery.synced);
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
    await Promise.all(all.map(({ client, discovery }) => discovery.close().then(() => client.close())));
  }

  #start(name: string, kube: KubeSource): Followed {
    const { engine, target } = kube;
    const client = new KubeClient(findAccess(target));
    // Requests wait a moment for the first replica instead of being refused.
    this.#discovered.set(name, [], null);
    let before: string | null = null;
    let count = -1;
    const discovery = new KubeDiscovery({
      client,
      target,
      found: (replicas, problem) => {
        const configs = replicas.map(({ id, url }) => ({ id, url, engine, models: null }));
        const tooMany = this.#discovered.set(name, configs, problem);
        const kept = counted(replicas.length, 'replica');
        if (problem !== null && problem !== before) this.#say(`warning: endpoint '${name}' keeps ${kept}: ${problem}`);
        else if (replicas.length !== count || problem !== before)
          this.#say(`endpoint '${name}': ${kept} in the cluster`);
        if (tooMany > 0) this.#say(`warning: endpoint '${name}' has ${kept} and no room for ${tooMany} of them`);
        before = problem;
        count = replicas.length;
      },
    });
    return { source: JSON.stringify(kube), client, discovery };
  }
}
