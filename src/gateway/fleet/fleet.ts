import type { EndpointConfig, GatewayConfig, PolicyConfig, ReplicaConfig } from '../config/gateway-config.js';
import { draining } from '../errors.js';
import { Endpoint } from './endpoint.js';
import { endpointOrder } from './endpoint-order.js';
import type { EndpointParts } from './endpoint-parts.js';
import { endpointCalled, endpointNamed, endpointOfModel, managedName } from './find-endpoint.js';
import { LeavingReplicas } from './leaving-replicas.js';
import { LiveReplica } from './live-replica.js';
import type { ManagedFacts, ManagedReplica } from './managed-routes.js';
import { refuseTaken } from './refuse-taken.js';
import { ReplicaWatch, type ReplicaWatchParts } from './replica-watch.js';

export interface FleetParts extends EndpointParts, ReplicaWatchParts {
  config: GatewayConfig;
}

/** All endpoints and their replicas: who joins and who leaves. */
export class Fleet {
  readonly endpoints = new Map<string, Endpoint>();
  /** Whoever keeps endpoints has not told of all of them yet: what is not known is not denied for good. */
  isSettling = false;
  readonly #parts: FleetParts;
  readonly #watch: ReplicaWatch;
  readonly #leaving = new LeavingReplicas();

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#watch = new ReplicaWatch(this.endpoints, parts);
    for (const endpoint of parts.config.endpoints) this.#addEndpoint(endpoint);
  }

  replicas(): LiveReplica[] {
    return [...this.endpoints.values()].flatMap(({ replicas }) => replicas);
  }

  /** Those that left and still have requests to finish. */
  leaving(): LiveReplica[] {
    return this.#leaving.all();
  }

  models(): string[] {
    return modelsOf(this.replicas());
  }

  /** The models of the endpoint that a path names; an ApiError when there is none. */
  modelsOf(name: string, workspace: string): string[] {
    const { replicas } = endpointCalled(this.endpoints, name, workspace, this.isSettling);
    return modelsOf(replicas);
  }

  /** The endpoint of this name or, without one, one that serves the model; an ApiError when there is none. */
  endpointFor(model: string, name: string | null, workspace: string | null = null): Endpoint {
    const { endpoints, isSettling } = this;
    if (name === null) return endpointOfModel(endpoints, model, isSettling);
    return endpointNamed(endpoints, model, name, workspace ?? '', isSettling);
  }

  /** Asks every replica how it is; resolves when all have answered. May be called again before that. */
  check(): Promise<void> {
    return this.#watch.check();
  }

  /** Asks every replica that is well for its signals, as `check` does. */
  scrape(): Promise<void> {
    return this.#watch.scrape();
  }

  /** Asks a replica how it is. */
  look(replica: LiveReplica): Promise<void> {
    return this.#watch.look(replica);
  }

  /** A replica joins. It gets requests when it has said that it is well. */
  add(endpoint: Endpoint, config: ReplicaConfig): LiveReplica {
    const replica = this.make(config, endpoint);
    endpoint.setReplicas([...endpoint.replicas, replica]);
    void this.look(replica);
    return replica;
  }

  /** The replica gets no more requests and finishes what it has, as long as that does not take too long. */
  remove(replica: LiveReplica): void {
    replica.drain();
    for (const endpoint of this.endpoints.values()) {
      if (!endpoint.replicas.includes(replica)) continue;
      endpoint.setReplicas(endpoint.replicas.filter((other) => other !== replica));
    }
    this.leave(replica, this.#parts.config.drainMs);
  }

  /** A replica that is in no endpoint any more finishes what it has, for so long at most; Infinity: as long as that takes. */
  leave(replica: LiveReplica, withinMs: number): void {
    this.#parts.metrics.forget(replica.id);
    this.#leaving.add(replica, withinMs);
  }

  /** Ends the connections of a replica that has left, and with them what is under way on them. */
  cut(replica: LiveReplica): void {
    this.#leaving.cut(replica);
  }

  /**
   * Goes over to another configuration. What is the same in both stays as it is, with all that is known of it, and endpoints
   * that somebody keeps are none of its business; an InputError when it wants the name of one of those.
   */
  configure(config: GatewayConfig): void {
    refuseTaken(this.endpoints, config.endpoints);
    this.#parts.config = config;
    for (const given of config.endpoints) this.#changeEndpoint(given);
    const named = new Set(config.endpoints.map(({ name }) => name));
    for (const endpoint of [...this.endpoints.values()]) {
      if (endpoint.managed !== null) {
        endpoint.configure();
        for (const replica of endpoint.replicas) replica.configure(config);
      } else if (!named.has(endpoint.name)) this.retire(endpoint, config.drainMs);
    }
    this.#sort();
  }

  /** As the endpoints would be configured again. */
  get config(): EndpointConfig[] {
    const configured = [...this.endpoints.values()].filter(({ managed }) => managed === null);
    return configured.map(({ name, policy, replicas }) => ({
      name,
      policy,
      replicas: replicas.map(({ config }) => config),
    }));
  }

  // What endpoints that somebody keeps are made of.

  /** A new endpoint without replicas. */
  open(facts: ManagedFacts, policy: PolicyConfig): Endpoint {
    const name = managedName(facts.workspace, facts.name);
    const endpoint = new Endpoint(name, policy, this.#parts);
    endpoint.managed = facts;
    this.endpoints.set(name, endpoint);
    this.#sort();
    return endpoint;
  }

  /** A replica of an endpoint, to be added to it. */
  make(config: ManagedReplica, { name }: Endpoint): LiveReplica {
    const replica = new LiveReplica(config, this.#parts.config, name);
    replica.onDoubt = () => void this.look(replica);
    return replica;
  }

  /** The endpoint goes, and its replicas with it. */
  retire(endpoint: Endpoint, withinMs: number): void {
    this.endpoints.delete(endpoint.name);
    const { replicas } = endpoint;
    endpoint.retire();
    for (const replica of replicas) {
      replica.drain();
      this.leave(replica, withinMs);
    }
  }

  /** Nothing more is wanted: requests that wait are told, those on replicas go on. */
  drain(): void {
    for (const endpoint of this.endpoints.values()) endpoint.close(draining(), 'draining');
  }

  async close(): Promise<void> {
    const replicas = [...this.replicas(), ...this.#leaving.release()];
    await Promise.all(replicas.map((replica) => replica.close()));
  }

  #addEndpoint({ name, policy, replicas }: EndpointConfig): void {
    const endpoint = new Endpoint(name, policy, this.#parts);
    endpoint.setReplicas(replicas.map((replica) => this.make(replica, endpoint)));
    this.endpoints.set(name, endpoint);
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
      if (wanted.delete(JSON.stringify(replica.config))) replica.configure(this.#parts.config);
      else this.remove(replica);
    }
    for (const replica of wanted.values()) this.add(endpoint, replica);
  }

  #sort(): void {
    const all = endpointOrder(this.endpoints.values());
    this.endpoints.clear();
    for (const endpoint of all) this.endpoints.set(endpoint.name, endpoint);
  }
}

function modelsOf(replicas: readonly LiveReplica[]): string[] {
  return [...new Set(replicas.flatMap(({ models }) => [...models]))].sort();
}
