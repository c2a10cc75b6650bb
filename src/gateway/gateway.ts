import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { randomStream } from '../kernel/random-stream.js';
import { DecisionLog } from './decisions/decision-log.js';
import { DecisionRing } from './decisions/decision-ring.js';
import { Endpoint } from './fleet/endpoint.js';
import { checkHealth } from './fleet/health-check.js';
import { LiveReplica } from './fleet/live-replica.js';
import type { EndpointConfig, GatewayConfig, ListenConfig, ReplicaConfig } from './gateway-config.js';
import { GatewayMetrics } from './gateway-metrics.js';
import type { Exchange, Outcome } from './proxy/exchange.js';
import { RetryBudget } from './proxy/retry-budget.js';
import { adminHandler } from './server/admin-handler.js';
import { type PublicHost, publicHandler } from './server/public-handler.js';
import { scrape } from './signals/scrape.js';

/** How often requests are looked at whose whole time may be up. */
const SWEEP_MS = 250;

/** The gateway: one process, a public port for clients and an admin port for its keepers. */
export class Gateway implements PublicHost {
  readonly metrics = new GatewayMetrics();
  readonly ring: DecisionRing;
  /** What the admin API asks for: made anew at every start. */
  readonly adminToken = randomBytes(24).toString('base64url');
  readonly budget: RetryBudget;
  isDraining = false;
  config: GatewayConfig;
  readonly endpoints = new Map<string, Endpoint>();
  readonly #configAgain: () => GatewayConfig;
  readonly #log: DecisionLog | null;
  readonly #public: Server;
  readonly #admin: Server;
  readonly #exchanges = new Set<Exchange>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #random;
  readonly #startedMs = performance.now();
  /** Replicas that left and still have requests to finish. */
  readonly #leaving = new Set<LiveReplica>();

  /** @param configAgain reads the configuration again when somebody asks for it; throws an InputError when it is wrong */
  constructor(config: GatewayConfig, configAgain: () => GatewayConfig = () => config) {
    this.config = config;
    this.#configAgain = configAgain;
    this.ring = new DecisionRing(config.limits.decisions);
    this.#log = config.decisionLog === null ? null : new DecisionLog(config.decisionLog);
    this.budget = new RetryBudget(config.retries.budget);
    this.#random = randomStream(config.seed, 'retries');
    this.#public = listener(config.listen, config, publicHandler(this));
    this.#admin = listener(config.admin, config, adminHandler(this));
    for (const endpoint of config.endpoints) this.#addEndpoint(endpoint);
  }

  /** Listens. Replicas need not be there: they join when they are well. */
  async start(): Promise<void> {
    await Promise.all([this.check(), listen(this.#public, this.config.listen), listen(this.#admin, this.config.admin)]);
    const { health, signals } = this.config;
    this.#every(health.intervalMs, () => this.check());
    this.#every(signals.intervalMs, () => this.scrapeAll());
    this.#every(SWEEP_MS, async () => this.#sweep());
    await this.scrapeAll();
  }

  get url(): string {
    return addressOf(this.#public, this.config.listen);
  }

  get adminUrl(): string {
    return addressOf(this.#admin, this.config.admin);
  }

  // What requests ask of the gateway.

  get retries(): GatewayConfig['retries'] {
    return this.config.retries;
  }

  get bodyBytes(): number {
    return this.config.limits.bodyBytes;
  }

  get isReady(): boolean {
    return this.replicas().some(({ state }) => state === 'ready');
  }

  nowMs(): number {
    return performance.now() - this.#startedMs;
  }

  nowUs(): number {
    return Math.round((performance.now() - this.#startedMs) * 1000);
  }

  jitter(): number {
    return this.#random.next();
  }

  retried(): void {
    this.metrics.retries++;
  }

  refused(status: number): void {
    this.metrics.refused(status);
  }

  began(exchange: Exchange): void {
    this.#exchanges.add(exchange);
  }

  ended(exchange: Exchange, outcome: Outcome): void {
    this.#exchanges.delete(exchange);
    this.metrics.ended(outcome);
    if (this.#leaving.size > 0) this.#closeIdleLeavers();
  }

  models(): string[] {
    return [...new Set(this.replicas().flatMap(({ models }) => [...models]))].sort();
  }

  endpointFor(model: string, name: string | null): Endpoint | undefined {
    if (name !== null) return this.endpoints.get(name);
    for (const endpoint of this.endpoints.values()) {
      for (const replica of endpoint.replicas) if (replica.models.has(model)) return endpoint;
    }
    return undefined;
  }

  // What its keepers ask.

  get inFlight(): number {
    return this.#exchanges.size;
  }

  replicas(): LiveReplica[] {
    return [...this.endpoints.values()].flatMap(({ replicas }) => replicas);
  }

  /** Asks every replica how it is, at once. */
  async check(): Promise<void> {
    await Promise.all(this.replicas().map((replica) => checkHealth(replica, this.config.health, () => this.nowMs())));
  }

  async scrapeAll(): Promise<void> {
    const { health } = this.config;
    const all = [...this.endpoints.values()].flatMap((endpoint) =>
      endpoint.replicas.map(async (replica) => {
        if (replica.state !== 'ready') return;
        try {
          const signals = await scrape(replica, health.timeoutMs, () => this.nowUs());
          for (const name of signals.missing) this.metrics.signalMissing(name);
          endpoint.report(replica, signals);
        } catch {
          this.metrics.scrapeFailed(replica.id);
        }
      }),
    );
    await Promise.all(all);
  }

  addReplica(endpointName: string, config: ReplicaConfig): LiveReplica {
    const endpoint = this.endpoints.get(endpointName)!;
    const replica = new LiveReplica(config, this.config);
    endpoint.setReplicas([...endpoint.replicas, replica]);
    void checkHealth(replica, this.config.health, () => this.nowMs());
    return replica;
  }

  /** The replica gets no more requests and finishes what it has. */
  removeReplica(replica: LiveReplica): void {
    replica.drain();
    for (const endpoint of this.endpoints.values()) {
      if (!endpoint.replicas.includes(replica)) continue;
      endpoint.setReplicas(endpoint.replicas.filter((other) => other !== replica));
    }
    this.#leaving.add(replica);
    this.#closeIdleLeavers();
    setTimeout(() => this.#closeLeaver(replica), this.config.drainMs).unref();
  }

  /** Reads the configuration again and takes it on; when it is wrong, everything stays as it is. */
  reloadConfig(): void {
    this.reload(this.#configAgain());
  }

  /** Takes a new configuration on without dropping a request. Ports stay as they are. */
  reload(config: GatewayConfig): void {
    this.config = { ...config, listen: this.config.listen, admin: this.config.admin };
    for (const given of config.endpoints) this.#changeEndpoint(given);
    const named = new Set(config.endpoints.map(({ name }) => name));
    for (const [name, endpoint] of this.endpoints) {
      if (named.has(name)) continue;
      for (const replica of endpoint.replicas) this.removeReplica(replica);
      this.endpoints.delete(name);
    }
  }

  /** Takes no new requests, lets those under way end, and is gone. */
  async close(drainMs = this.config.drainMs): Promise<void> {
    this.isDraining = true;
    for (const timer of this.#timers) clearInterval(timer);
    const closed = Promise.all([close(this.#public), close(this.#admin)]);
    const deadline = setTimeout(() => this.#cut(), drainMs);
    this.#public.closeIdleConnections();
    this.#admin.closeIdleConnections();
    await closed;
    clearTimeout(deadline);
    await Promise.all([...this.replicas(), ...this.#leaving].map((replica) => replica.close()));
    this.#log?.close();
  }

  #cut(): void {
    for (const exchange of this.#exchanges) exchange.timeOut();
    this.#public.closeAllConnections();
    this.#admin.closeAllConnections();
  }

  #addEndpoint({ name, policy, replicas }: EndpointConfig): void {
    const parts = { config: this.config, ring: this.ring, log: this.#log, nowUs: () => this.nowUs() };
    const endpoint = new Endpoint(name, policy, parts);
    endpoint.setReplicas(replicas.map((replica) => new LiveReplica(replica, this.config)));
    this.endpoints.set(name, endpoint);
  }

  #changeEndpoint(given: EndpointConfig): void {
    const endpoint = this.endpoints.get(given.name);
    if (endpoint === undefined) {
      this.#addEndpoint(given);
      return;
    }
    if (JSON.stringify(endpoint.policy) !== JSON.stringify(given.policy)) endpoint.setPolicy(given.policy);
    const wanted = new Map(
      given.replicas.map((replica) => [`${replica.id} ${replica.url} ${replica.engine}`, replica]),
    );
    const staying = endpoint.replicas.filter(({ id, url, engine }) => wanted.delete(`${id} ${url} ${engine}`));
    for (const replica of endpoint.replicas) if (!staying.includes(replica)) this.removeReplica(replica);
    for (const replica of wanted.values()) this.addReplica(given.name, replica);
  }

  #closeIdleLeavers(): void {
    for (const replica of this.#leaving) if (replica.active === 0) this.#closeLeaver(replica);
  }

  #closeLeaver(replica: LiveReplica): void {
    if (this.#leaving.delete(replica)) void replica.close();
  }

  #sweep(): void {
    const before = this.nowMs() - this.config.timeouts.totalMs;
    for (const exchange of this.#exchanges) if (exchange.startedMs < before) exchange.timeOut();
  }

  /** Repeats something; the next time is not begun before the last has ended. */
  #every(ms: number, task: () => Promise<void>): void {
    let running = false;
    const timer = setInterval(() => {
      if (running) return;
      running = true;
      void task().finally(() => {
        running = false;
      });
    }, ms);
    this.#timers.push(timer);
  }
}

function listener({ tls }: ListenConfig, { limits }: GatewayConfig, handler: RequestListener): Server {
  const options = { maxHeaderSize: limits.headerBytes, keepAliveTimeout: 75_000, noDelay: true };
  if (tls === null) return createServer(options, handler);
  return createTlsServer({ ...options, cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, handler) as Server;
}

function listen(server: Server, { host, port }: ListenConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function addressOf(server: Server, { host, tls }: ListenConfig): string {
  const { port } = server.address() as AddressInfo;
  return `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
