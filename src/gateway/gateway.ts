import { randomStream } from '../kernel/random-stream.js';
import type { Store } from '../store/open-store.js';
import type { Access } from './access/access.js';
import { DecisionLog } from './decisions/decision-log.js';
import { DecisionRing } from './decisions/decision-ring.js';
import type { Endpoint } from './fleet/endpoint.js';
import { Fleet } from './fleet/fleet.js';
import type { LiveReplica } from './fleet/live-replica.js';
import { ManagedFleet } from './fleet/managed-fleet.js';
import type { ManagedRoutes } from './fleet/managed-routes.js';
import type { GatewayConfig } from './gateway-config.js';
import { MeterPool } from './metering/meter-pool.js';
import type { Exchange } from './proxy/exchange.js';
import { ExchangeList } from './proxy/exchange-list.js';
import { RetryBudget } from './proxy/retry-budget.js';
import type { TrafficRecorder } from './recording/traffic-recorder.js';
import { reloadConfig } from './reload-config.js';
import type { AdminExtension } from './server/admin-extension.js';
import { AdminFiles, newAdminToken } from './server/admin-files.js';
import { adminHandler } from './server/admin-handler.js';
import { Listener, readTls } from './server/listener.js';
import { continueHandler, type PublicHost, publicHandler } from './server/public-handler.js';
import { Services } from './services.js';
import { GatewayMetrics } from './telemetry/gateway-metrics.js';
import { metricsText } from './telemetry/metrics-text.js';
import type { Tracing } from './telemetry/tracing/tracing.js';

/** How often requests under way are looked at. */
const SWEEP_MS = 250;
/** How long a gateway that drains still answers after its last request: who sends one meanwhile is told, not cut off. */
const LINGER_MS = 100;

/** The gateway: one process, a public port for clients and an admin port for its keepers. */
export class Gateway implements PublicHost {
  readonly metrics = new GatewayMetrics();
  readonly meters = new MeterPool();
  readonly ring: DecisionRing;
  readonly log: DecisionLog | null;
  readonly fleet: Fleet;
  /** Endpoints that somebody keeps, beside those of the configuration. */
  readonly routes: ManagedRoutes;
  /** A part of the admin API that somebody else answers. */
  extension: AdminExtension | null = null;
  /** What the admin API asks for: made anew at every start, or with a store kept beside its data. */
  adminToken = newAdminToken();
  readonly budget: RetryBudget;
  isDraining = false;
  config: GatewayConfig;
  /** Hears of what should not happen: a bug, or a decision log that cannot be written any more. */
  onFault: (error: unknown) => void = () => {};
  /** Hears of what its keeper may want to know, a line each. */
  onWarning: (line: string) => void = () => {};
  readonly #configAgain: () => GatewayConfig;
  readonly #public: Listener;
  readonly #admin: Listener;
  #adminFiles: AdminFiles | null = null;
  readonly #stopped = new AbortController();
  readonly #exchanges = new ExchangeList();
  readonly #random;
  readonly #startedMs = performance.now();
  /** Microseconds since 1970 at which its clock began. */
  readonly epochUs = Math.round((performance.timeOrigin + this.#startedMs) * 1000);
  readonly #services: Services;
  #timers: NodeJS.Timeout[] = [];
  #sweeper: NodeJS.Timeout | undefined;
  #isStopping = false;
  /** Who waits for the last request to end. */
  #whenIdle: () => void = () => {};

  /** @param configAgain reads the configuration again when somebody asks for it; throws an InputError when it is wrong */
  constructor(config: GatewayConfig, configAgain: () => GatewayConfig = () => config) {
    this.config = config;
    this.#configAgain = configAgain;
    const { limits, timeouts } = config;
    const shared = { ...limits, timeouts, refused: (status: number) => this.metrics.refused(status) };
    this.#public = new Listener(config.listen, {
      ...shared,
      handler: publicHandler(this),
      continueHandler: continueHandler(this),
    });
    this.#admin = new Listener(config.admin, { ...shared, handler: adminHandler(this) });
    this.ring = new DecisionRing(config.limits.decisions);
    this.log = config.decisionLog === null ? null : new DecisionLog(config.decisionLog, (error) => this.fault(error));
    this.budget = new RetryBudget(config.retries.budget);
    this.#random = randomStream(config.seed, 'retries');
    const { log, metrics, ring } = this;
    const nowUs = () => this.nowUs();
    this.fleet = new Fleet({ config, log, metrics, ring, nowUs });
    this.routes = new ManagedFleet(this.fleet, () => this.nowMs());
    this.#services = new Services({
      config,
      epochUs: this.epochUs,
      nowUs,
      fault: (error) => this.fault(error),
      warn: (line) => this.onWarning(line),
    });
  }

  /** Listens. Replicas need not be there: they join when they are well. */
  async start(): Promise<void> {
    await this.#services.open();
    if (this.config.store !== null) {
      this.#adminFiles = new AdminFiles(this.config.dataDir);
      this.adminToken = this.#adminFiles.token();
    }
    await Promise.all([this.fleet.check(), this.#public.start(), this.#admin.start()]);
    this.#adminFiles?.tell(this.adminUrl, this.adminToken);
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#watch();
    await this.fleet.scrape();
  }

  get url(): string {
    return this.#public.url;
  }

  get adminUrl(): string {
    return this.#admin.url;
  }

  // What requests ask of the gateway.

  get retries(): GatewayConfig['retries'] {
    return this.config.retries;
  }

  get bodyBytes(): number {
    return this.config.limits.bodyBytes;
  }

  get isReady(): boolean {
    return !this.isDraining && this.replicas().some(({ state }) => state === 'ready');
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

  get access(): Access | null {
    return this.#services.access;
  }

  get recorder(): TrafficRecorder | null {
    return this.#services.recorder;
  }

  get tracing(): Tracing | null {
    return this.#services.tracing;
  }

  refused(status: number, id: string, code: string, client: string): void {
    this.metrics.refused(status);
    this.#services.refused(id, status, code, client);
  }

  fault(error: unknown): void {
    this.metrics.faults++;
    this.onFault(error);
  }

  began(exchange: Exchange): void {
    this.#exchanges.add(exchange);
  }

  note(exchange: Exchange): void {
    this.#services.note(exchange);
  }

  ended(exchange: Exchange): void {
    this.#exchanges.remove(exchange);
    this.metrics.ended(exchange);
    this.#services.ended(exchange);
    if (this.isDraining && this.inFlight === 0) this.#whenIdle();
  }

  models(): string[] {
    return this.fleet.models();
  }

  endpointFor(model: string, name: string | null, workspace: string | null): Endpoint {
    return this.fleet.endpointFor(model, name, workspace);
  }

  // What its keepers ask.

  get inFlight(): number {
    return this.#exchanges.size;
  }

  /** The requests under way. */
  underWay(): Exchange[] {
    return this.#exchanges.all();
  }

  get store(): Store | null {
    return this.#services.store;
  }

  /** Sees to it that usage so far is in the store. */
  foldUsage(): Promise<void> {
    return this.#services.fold();
  }

  /** Its metrics in Prometheus' text format. */
  metricsText(): string {
    const flow = new Map([...this.endpoints.values()].map((endpoint) => [endpoint.name, endpoint.flow]));
    return metricsText(this, { ...this.#services.metrics, flow, listeners: [this.#public, this.#admin] });
  }

  /** Aborted when the gateway has no more to say. */
  get stopSignal(): AbortSignal {
    return this.#stopped.signal;
  }

  get endpoints(): ReadonlyMap<string, Endpoint> {
    return this.fleet.endpoints;
  }

  replicas(): LiveReplica[] {
    return this.fleet.replicas();
  }

  /**
   * Reads the configuration again and takes it on; when it is wrong, everything stays as it is. Returns the keys that have
   * changed and need a new start.
   */
  reloadConfig(): string[] {
    return this.reload(this.#configAgain());
  }

  /** Takes a new configuration on without dropping a request. */
  reload(given: GatewayConfig): string[] {
    const { config, needsRestart } = reloadConfig(this.config, given);
    const [forPublic, forAdmin] = [config.listen, config.admin].map(({ tls }) => tls && readTls(tls));
    this.fleet.configure(config);
    if (forPublic) this.#public.renew(forPublic);
    if (forAdmin) this.#admin.renew(forAdmin);
    this.config = config;
    this.budget.share = config.retries.budget;
    this.#services.configure(config);
    for (const listener of [this.#public, this.#admin]) listener.idleMs = config.timeouts.idleMs;
    if (!this.isDraining) this.#watch();
    return needsRestart;
  }

  /** Takes no new requests and says so, lets those under way end, and is gone. */
  async close(drainMs = this.config.drainMs): Promise<void> {
    this.isDraining = true;
    this.fleet.drain();
    for (const timer of this.#timers) clearInterval(timer);
    let isLate = false;
    const deadline = setTimeout(() => {
      isLate = true;
      for (const exchange of this.#exchanges.all()) exchange.timeOut();
      this.#cutSoon();
    }, drainMs);
    if (this.inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
      if (!isLate) await new Promise((resolve) => setTimeout(resolve, Math.min(LINGER_MS, drainMs)));
    }
    this.#isStopping = true;
    this.#stopped.abort();
    this.#adminFiles?.withdraw();
    const stopped = Promise.all([this.#public.stop(), this.#admin.stop()]);
    if (isLate) this.#cutSoon();
    await stopped;
    clearTimeout(deadline);
    clearInterval(this.#sweeper);
    await this.fleet.close();
    await this.#services.close();
    this.log?.close();
  }

  /** Behind what those who were told that their time is over get at the end of this turn. */
  #cutSoon(): void {
    setImmediate(() => {
      this.#public.cut();
      this.#admin.cut();
    });
  }

  #sweep(): void {
    const nowUs = this.nowUs();
    const { timeouts } = this.config;
    for (const exchange of this.#exchanges.all()) exchange.check(nowUs, SWEEP_MS, timeouts);
    this.log?.flush();
    this.#services.flush();
    // Connections whose last answer began before the draining would wait for more.
    if (!this.#isStopping) return;
    this.#public.closeIdle();
    this.#admin.closeIdle();
  }

  /** Looks after the replicas from now on. */
  #watch(): void {
    const { health, signals } = this.config;
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [
      setInterval(() => void this.fleet.check(), health.intervalMs),
      setInterval(() => void this.fleet.scrape(), signals.intervalMs),
    ];
  }
}
