import { draining, endpointTaken, replicaTaken } from '../errors.js';
import type { EndpointConfig, GatewayConfig, PolicyConfig, ReplicaConfig } from '../gateway-config.js';
import { scrape } from '../signals/scrape.js';
import type { GatewayMetrics } from '../telemetry/gateway-metrics.js';
import { Endpoint, type EndpointParts, type ManagedFacts } from './endpoint.js';
import { endpointNamed, endpointOfModel, managedName } from './find-endpoint.js';
import { checkHealth } from './health-check.js';
import { LiveReplica } from './live-replica.js';
import type { ManagedReplica } from './managed-routes.js';

/** Somebody else's API is asked how it is no more often, as long as it is well: he may count that. */
const EXTERNAL_CHECK_MS = 30_000;

export interface FleetParts extends EndpointParts {
  config: GatewayConfig;
  metrics: GatewayMetrics;
}

/** All endpoints and their replicas: who joins, who leaves, how they are. */
export class Fleet {
  readonly endpoints = new Map<string, Endpoint>();
  /** Whoever keeps endpoints has not told of all of them yet: what is not known is not denied for good. */
  isSettling = false;
  readonly #parts: FleetParts;
  /** Replicas that left and still have requests to finish, and the end of their time, if there is one. */
  readonly #leaving = new Map<LiveReplica, NodeJS.Timeout | undefined>();
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

  /** The endpoint of this name or, without one, one that serves the model; an ApiError when there is none. */
  endpointFor(model: string, name: string | null, workspace: string | null = null): Endpoint {
    const { endpoints, isSettling } = this;
    if (name === null) return endpointOfModel(endpoints, model, isSettling);
    return endpointNamed(endpoints, model, name, workspace ?? '', isSettling);
  }

  /**
   * Asks every replica how it is, at once; resolves when all have answered. May be called again before that: one that hangs is
   * then left to its time-out, and holds up no other.
   */
  async check(): Promise<void> {
    const nowMs = this.#nowMs();
    const due = this.replicas().filter((replica) => isDue(replica, nowMs));
    await Promise.all(due.map((replica) => this.look(replica)));
  }

  /**
   * Asks every replica that is well for its signals, at once; may be called again as `check` may. One that does not answer
   * keeps those it gave, until they are stale.
   */
  async scrape(): Promise<void> {
    const all: Promise<void>[] = [];
    for (const endpoint of this.endpoints.values()) {
      // Time alone may have made room: a breaker lets somebody try again.
      endpoint.fleetChanged();
      for (const replica of endpoint.replicas) {
        if (replica.state !== 'ready' || replica.external !== null) continue;
        all.push(once(this.#scrapes, replica, () => this.#scrape(endpoint, replica)));
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

  /**
   * Goes over to another configuration. What is the same in both stays as it is, with all that is known of it, and endpoints
   * that somebody keeps are none of its business; an InputError when it wants the name of one of those.
   */
  configure(config: GatewayConfig): void {
    this.#refuseTaken(config);
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
    return new LiveReplica(config, this.#parts.config, name);
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
    const replicas = [...this.replicas(), ...this.#leaving.keys()];
    for (const timer of this.#leaving.values()) clearTimeout(timer);
    this.#leaving.clear();
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

  /** Asks a replica how it is. */
  look(replica: LiveReplica): Promise<void> {
    return once(this.#checks, replica, async () => {
      const before = replica.state;
      await checkHealth(replica, this.#parts.config.health, () => this.#nowMs());
      replica.checkedMs = this.#nowMs();
      if (replica.state === before) return;
      for (const endpoint of this.endpoints.values()) if (endpoint.replicas.includes(replica)) endpoint.fleetChanged();
    });
  }

  /** A replica that is in no endpoint any more finishes what it has, for so long at most; Infinity: as long as that takes. */
  leave(replica: LiveReplica, withinMs: number): void {
    this.#parts.metrics.forget(replica.id);
    const timer = Number.isFinite(withinMs) ? setTimeout(() => this.cut(replica), withinMs).unref() : undefined;
    this.#leaving.set(replica, timer);
    if (replica.active === 0) this.cut(replica);
    else replica.idleListeners.add(() => this.cut(replica));
  }

  #nowMs(): number {
    return this.#parts.nowUs() / 1000;
  }

  /** Those of the configuration as they stand there, then those that somebody keeps, by workspace and name. */
  #sort(): void {
    const all = [...this.endpoints.values()];
    const kept = all.filter(({ managed }) => managed !== null);
    kept.sort(
      (a, b) => compare(a.managed!.workspace, b.managed!.workspace) || compare(a.managed!.name, b.managed!.name),
    );
    this.endpoints.clear();
    for (const endpoint of all) if (endpoint.managed === null) this.endpoints.set(endpoint.name, endpoint);
    for (const endpoint of kept) this.endpoints.set(endpoint.name, endpoint);
  }

  #refuseTaken({ endpoints }: GatewayConfig): void {
    const ids = new Set<string>();
    for (const { managed, replicas } of this.endpoints.values()) {
      if (managed !== null) for (const { id } of replicas) ids.add(id);
    }
    for (const { name, replicas } of endpoints) {
      if (this.endpoints.get(name)?.managed) throw endpointTaken(name);
      for (const { id } of replicas) if (ids.has(id)) throw replicaTaken(id);
    }
  }

  /** Ends the connections of a replica that has left, and with them what is under way on them. */
  cut(replica: LiveReplica): void {
    clearTimeout(this.#leaving.get(replica));
    if (this.#leaving.delete(replica)) void replica.close();
  }
}

function isDue({ checkedMs, external, healthFailures, state }: LiveReplica, nowMs: number): boolean {
  return external === null || state !== 'ready' || healthFailures > 0 || nowMs - checkedMs >= EXTERNAL_CHECK_MS;
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

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
