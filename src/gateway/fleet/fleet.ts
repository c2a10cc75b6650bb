import { draining, endpointUnknown, modelUnknown, noReplica } from '../errors.js';
import type { EndpointConfig, GatewayConfig, ReplicaConfig } from '../gateway-config.js';
import { scrape } from '../signals/scrape.js';
import type { GatewayMetrics } from '../telemetry/gateway-metrics.js';
import { Endpoint, type EndpointParts } from './endpoint.js';
import { checkHealth } from './health-check.js';
import { LiveReplica } from './live-replica.js';

export interface FleetParts extends EndpointParts {
  config: GatewayConfig;
  metrics: GatewayMetrics;
}

/** All endpoints and their replicas: who joins, who leaves, how they are. */
export class Fleet {
  readonly endpoints = new Map<string, Endpoint>();
  readonly #parts: FleetParts;
  /** Replicas that left and still have requests to finish, and the end of their time. */
  readonly #leaving = new Map<LiveReplica, NodeJS.Timeout>();
  /** What replicas are asked and have not answered. */
  readonly #checks = new Map<LiveReplica, Promise<void>>();
  readonly #scrapes = new Map<LiveReplica, Promise<void>>();

  constructor(parts: FleetParts) {
    this.#parts = parts;
    for (const endpoint of parts.config.endpoints) this.#addEndpoint(endpoint);
  }

  replicas(): LiveReplica[] {
    return [...this.endpoints.values()].flatMap(({ replicas }) => replicas);
  }

  /** Those that left and still have requests to finish. */
  leaving(): LiveReplica[] {
    return [...this.#leaving.keys()];
  }

  models(): string[] {
    return [...new Set(this.replicas().flatMap(({ models }) => [...models]))].sort();
  }

  /** The endpoint of this name or, without one, the first that serves the model; an ApiError when there is none. */
  endpointFor(model: string, name: string | null): Endpoint {
    if (name !== null) {
      const endpoint = this.endpoints.get(name);
      if (endpoint === undefined) throw endpointUnknown(name);
      if (endpoint.serves(model)) return endpoint;
      throw this.#missing(model, endpoint.replicas);
    }
    for (const endpoint of this.endpoints.values()) if (endpoint.serves(model)) return endpoint;
    throw this.#missing(model, this.replicas());
  }

  /** As long as somebody has not said what it serves, the model may still come: that is worth another try. */
  #missing(model: string, replicas: readonly LiveReplica[]): Error {
    const isStarting = replicas.some(({ models }) => models.size === 0);
    return isStarting ? noReplica(model, 'some have not started yet') : modelUnknown(model);
  }

  /**
   * Asks every replica how it is, at once; resolves when all have answered. May be called again before that: one that hangs is
   * then left to its time-out, and holds up no other.
   */
  async check(): Promise<void> {
    await Promise.all(this.replicas().map((replica) => this.#check(replica)));
  }

  /**
   * Asks every replica that is well for its signals, at once; may be called again as `check` may. One that does not answer
   * keeps those it gave, until they are stale.
   */
  async scrape(): Promise<void> {
    const all: Promise<void>[] = [];
    for (const endpoint of this.endpoints.values()) {
      // Time alone may have made room: a breaker lets somebody try again.
      endpoint.flow.fleetChanged();
      for (const replica of endpoint.replicas) {
        if (replica.state === 'ready') all.push(once(this.#scrapes, replica, () => this.#scrape(endpoint, replica)));
      }
    }
    await Promise.all(all);
  }

  async #scrape(endpoint: Endpoint, replica: LiveReplica): Promise<void> {
    const { config, metrics, nowUs } = this.#parts;
    try {
      const signals = await scrape(replica, config.health.timeoutMs, nowUs);
      for (const name of signals.missing) metrics.signalMissing(replica.id, name);
      endpoint.report(replica, signals);
    } catch {
      if (endpoint.replicas.includes(replica)) metrics.scrapeFailed(replica.id);
    }
  }

  /** A replica joins. It gets requests when it has said that it is well. */
  add(endpoint: Endpoint, config: ReplicaConfig): LiveReplica {
    const replica = new LiveReplica(config, this.#parts.config);
    endpoint.setReplicas([...endpoint.replicas, replica]);
    void this.#check(replica);
    return replica;
  }

  /** The replica gets no more requests and finishes what it has, as long as that does not take too long. */
  remove(replica: LiveReplica): void {
    replica.drain();
    for (const endpoint of this.endpoints.values()) {
      if (!endpoint.replicas.includes(replica)) continue;
      endpoint.setReplicas(endpoint.replicas.filter((other) => other !== replica));
    }
    this.#leave(replica);
  }

  /** Goes over to another configuration. What is the same in both stays as it is, with all that is known of it. */
  configure(config: GatewayConfig): void {
    this.#parts.config = config;
    for (const given of config.endpoints) this.#changeEndpoint(given);
    const named = new Set(config.endpoints.map(({ name }) => name));
    for (const [name, endpoint] of this.endpoints) {
      if (named.has(name)) continue;
      this.endpoints.delete(name);
      const { replicas } = endpoint;
      endpoint.retire();
      for (const replica of replicas) {
        replica.drain();
        this.#leave(replica);
      }
    }
  }

  /** As the endpoints would be configured again. */
  get config(): EndpointConfig[] {
    return [...this.endpoints.values()].map(({ name, policy, replicas }) => ({
      name,
      policy,
      replicas: replicas.map(({ config }) => config),
    }));
  }

  /** A request has ended: a replica that had to leave may have waited for it. */
  requestEnded(): void {
    if (this.#leaving.size === 0) return;
    for (const replica of this.#leaving.keys()) if (replica.active === 0) this.#gone(replica);
  }

  /** Nothing more is wanted: requests that wait are told, those on replicas go on. */
  drain(): void {
    for (const { flow } of this.endpoints.values()) flow.close(draining(), 'draining');
  }

  async close(): Promise<void> {
    const replicas = [...this.replicas(), ...this.#leaving.keys()];
    for (const timer of this.#leaving.values()) clearTimeout(timer);
    this.#leaving.clear();
    await Promise.all(replicas.map((replica) => replica.close()));
  }

  #addEndpoint({ name, policy, replicas }: EndpointConfig): void {
    const endpoint = new Endpoint(name, policy, this.#parts);
    endpoint.setReplicas(replicas.map((replica) => new LiveReplica(replica, this.#parts.config)));
    this.endpoints.set(name, endpoint);
  }

  #changeEndpoint(given: EndpointConfig): void {
    const endpoint = this.endpoints.get(given.name);
    if (endpoint === undefined) {
      this.#addEndpoint(given);
      for (const replica of this.endpoints.get(given.name)!.replicas) void this.#check(replica);
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

  #check(replica: LiveReplica): Promise<void> {
    return once(this.#checks, replica, async () => {
      const { config, nowUs } = this.#parts;
      const before = replica.state;
      await checkHealth(replica, config.health, () => nowUs() / 1000);
      if (replica.state === before) return;
      for (const { flow, replicas } of this.endpoints.values()) if (replicas.includes(replica)) flow.fleetChanged();
    });
  }

  #leave(replica: LiveReplica): void {
    this.#parts.metrics.forget(replica.id);
    const timer = setTimeout(() => this.#gone(replica), this.#parts.config.drainMs).unref();
    this.#leaving.set(replica, timer);
    if (replica.active === 0) this.#gone(replica);
  }

  #gone(replica: LiveReplica): void {
    clearTimeout(this.#leaving.get(replica));
    this.#leaving.delete(replica);
    void replica.close();
  }
}

/** Asks unless the answer is under way already; then that one will do. */
function once(
  underWay: Map<LiveReplica, Promise<void>>,
  replica: LiveReplica,
  ask: () => Promise<void>,
): Promise<void> {
  const asked = underWay.get(replica);
  if (asked !== undefined) return asked;
  const answer = ask().finally(() => underWay.delete(replica));
  underWay.set(replica, answer);
  return answer;
}
