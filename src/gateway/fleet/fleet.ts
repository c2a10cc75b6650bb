import type { EndpointConfig, GatewayConfig, PolicyConfig, ReplicaConfig } from '../config/gateway-config.js';
import { readReplicaTls } from '../config/read-tls.js';
import { draining } from '../errors.js';
import type { ShadowFigures } from '../telemetry/shadow-figures.js';
import type { UpstreamTls } from '../upstream/origin.js';
import { Endpoint } from './endpoint/endpoint.js';
import type { EndpointHost } from './endpoint/endpoint-host.js';
import type { ShadowPort } from './endpoint/shadow-port.js';
import { EndpointDirectory, managedName } from './endpoint-directory.js';
import type { ManagedFacts, ManagedReplica } from './managed-routes.js';
import { LeavingReplicas } from './replica/leaving-replicas.js';
import { LiveReplica } from './replica/live-replica.js';
import { ReplicaWatch, type ReplicaWatchParts } from './replica-watch.js';

export interface FleetParts extends EndpointHost, ReplicaWatchParts {
  config: GatewayConfig;
  /** Shared with the code that looks endpoints up. */
  directory?: EndpointDirectory;
  metrics: EndpointHost['metrics'] & ReplicaWatchParts['metrics'];
}

/** All endpoints and their replicas, and how they join, change and leave. */
export class Fleet {
  readonly directory: EndpointDirectory;
  readonly #parts: FleetParts;
  /** For the connections to replicas. */
  readonly #tls: UpstreamTls;
  readonly #watch: ReplicaWatch;
  readonly #leaving = new LeavingReplicas();

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#tls = readReplicaTls(parts.config.replicaTls);
    this.directory = parts.directory ?? new EndpointDirectory();
    this.#watch = new ReplicaWatch(this.directory.byName, parts);
    for (const endpoint of parts.config.endpoints) this.#addEndpoint(endpoint);
  }

  get endpoints(): ReadonlyMap<string, Endpoint> {
    return this.directory.byName;
  }

  /** Null until they are installed. */
  get shadows(): ShadowPort | null {
    return this.#parts.shadows ?? null;
  }

  /** From now on all endpoints, also later ones, have shadow policies. */
  installShadows(port: ShadowPort): void {
    this.#parts.shadows = port;
    for (const endpoint of this.directory.unordered()) port.changed(endpoint);
  }

  /** What the shadows of each endpoint found, by its name; of those that have any. */
  shadowFigures(): Map<string, readonly ShadowFigures[]> {
    const figures = new Map<string, readonly ShadowFigures[]>();
    const { shadows } = this;
    if (shadows === null) return figures;
    for (const endpoint of this.endpoints.values()) {
      const found = shadows.of(endpoint);
      if (found.length > 0) figures.set(endpoint.name, found);
    }
    return figures;
  }

  /** Replicas that left and still have requests to finish. */
  leaving(): LiveReplica[] {
    return this.#leaving.all();
  }

  /** Checks the health of every replica; resolves when all checks have ended. May be called again before that. */
  check(): Promise<void> {
    return this.#watch.check();
  }

  /** Scrapes the signals of every ready replica, as `check` does. */
  scrape(): Promise<void> {
    return this.#watch.scrape();
  }

  /** Checks the health of a replica. */
  look(replica: LiveReplica): Promise<void> {
    return this.#watch.look(replica);
  }

  /** Adds a replica. It gets requests once a health check has found it ready. */
  add(endpoint: Endpoint, config: ReplicaConfig): LiveReplica {
    const replica = this.make(config, endpoint);
    endpoint.setReplicas([...endpoint.replicas, replica]);
    void this.look(replica);
    return replica;
  }

  /** Removes a replica: it gets no more requests and has `drainMs` to finish those it has. */
  remove(replica: LiveReplica): void {
    replica.drain();
    for (const endpoint of this.endpoints.values()) {
      if (!endpoint.replicas.includes(replica)) continue;
      endpoint.setReplicas(endpoint.replicas.filter((other) => other !== replica));
    }
    this.leave(replica, this.#parts.config.drainMs);
  }

  /**
   * Lets a replica that is in no endpoint any more finish its requests within `withinMs`; Infinity: however long that
   * takes.
   */
  leave(replica: LiveReplica, withinMs: number): void {
    this.#parts.metrics.replicas.forget(replica.id);
    this.#leaving.add(replica, withinMs);
  }

  /** Closes the connections of a replica that has left, and with them its last requests. */
  cut(replica: LiveReplica): void {
    this.#leaving.cut(replica);
  }

  /**
   * Applies a new configuration. Endpoints and replicas that are the same in both keep their state; managed endpoints
   * are not touched. Throws an InputError when it uses the name of one of those.
   */
  configure(config: GatewayConfig): void {
    this.directory.refuseTaken(config.endpoints);
    this.#parts.config = config;
    for (const given of config.endpoints) this.#changeEndpoint(given);
    const named = new Set(config.endpoints.map(({ name }) => name));
    for (const endpoint of [...this.endpoints.values()]) {
      if (endpoint.managed !== null) {
        endpoint.configure();
        for (const replica of endpoint.replicas) replica.configure(config);
      } else if (!named.has(endpoint.name)) this.retire(endpoint, config.drainMs);
    }
    this.directory.sort();
  }

  /** The configuration of the endpoints as they are now, without managed ones. */
  get config(): EndpointConfig[] {
    const configured = [...this.endpoints.values()].filter(({ managed }) => managed === null);
    return configured.map(({ name, policy, replicas }) => ({
      name,
      policy,
      replicas: replicas.filter(({ isDiscovered }) => !isDiscovered).map(({ config }) => config),
    }));
  }

  // For managed endpoints.

  /** Creates an endpoint without replicas. */
  open(facts: ManagedFacts, policy: PolicyConfig): Endpoint {
    const name = managedName(facts.workspace, facts.name);
    const endpoint = new Endpoint(name, policy, this.#parts);
    endpoint.managed = facts;
    this.directory.insert(endpoint);
    return endpoint;
  }

  /** Creates a replica of an endpoint; the caller adds it. */
  make(config: ManagedReplica, { name }: Endpoint): LiveReplica {
    const replica = new LiveReplica(config, this.#parts.config, name, this.#tls);
    replica.onDoubt = () => void this.look(replica);
    return replica;
  }

  /** Removes an endpoint and its replicas. */
  retire(endpoint: Endpoint, withinMs: number): void {
    this.directory.remove(endpoint);
    const { replicas } = endpoint;
    endpoint.retire();
    for (const replica of replicas) {
      replica.drain();
      this.leave(replica, withinMs);
    }
  }

  /** Refuses requests that wait and further ones; those on replicas go on. */
  drain(): void {
    for (const endpoint of this.endpoints.values()) endpoint.close(draining(), 'draining');
  }

  async close(): Promise<void> {
    const replicas = [...this.directory.replicas(), ...this.#leaving.release()];
    await Promise.all(replicas.map((replica) => replica.close()));
  }

  #addEndpoint({ name, policy, replicas }: EndpointConfig): void {
    const endpoint = new Endpoint(name, policy, this.#parts);
    endpoint.setReplicas(replicas.map((replica) => this.make(replica, endpoint)));
    this.directory.add(endpoint);
  }

  #changeEndpoint(given: EndpointConfig): void {
    const endpoint = this.endpoints.get(given.name);
    if (endpoint === undefined) {
      this.#addEndpoint(given);
      for (const replica of this.endpoints.get(given.name)!.replicas) void this.look(replica);
      return;
    }
    if (JSON.stringify(endpoint.policy) !== JSON.stringify(given.policy)) endpoint.setPolicy(given.policy);
    endpoint.configure();
    const wanted = new Map(given.replicas.map((replica) => [JSON.stringify(replica), replica]));
    for (const replica of endpoint.replicas) {
      const isKept = replica.isDiscovered || wanted.delete(JSON.stringify(replica.config));
      if (isKept) replica.configure(this.#parts.config);
      else this.remove(replica);
    }
    for (const replica of wanted.values()) this.add(endpoint, replica);
  }
}
