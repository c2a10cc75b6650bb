import type { Store } from '../store/open-store.js';
import type { GatewayConfig } from './config/gateway-config.js';
import { reloadConfig } from './config/reload-config.js';
import { DecisionLog } from './decisions/decision-log.js';
import { DecisionRing } from './decisions/decision-ring.js';
import type { Endpoint } from './fleet/endpoint/endpoint.js';
import { Fleet } from './fleet/fleet.js';
import { ManagedFleet } from './fleet/managed-fleet.js';
import type { ManagedRoutes } from './fleet/managed-routes.js';
import { Ports } from './ports.js';
import type { AdminExtension } from './server/admin-extension.js';
import { AdminFiles, newAdminToken } from './server/admin-files.js';
import { adminHandler } from './server/admin-handler.js';
import { publicHandler } from './server/public-handler.js';
import { ServingGateway } from './serving-gateway.js';
import { metricsText } from './telemetry/metrics-text.js';

/** How often requests under way are looked at. */
const SWEEP_MS = 250;
/** How long a gateway that drains still answers after its last request: who sends one meanwhile is told, not cut off. */
const LINGER_MS = 100;

/**
 * The gateway: one process, a public port for clients and an admin port for its keepers. Here is how it starts, changes and ends,
 * and what its keepers ask.
 */
export class Gateway extends ServingGateway {
  readonly ring: DecisionRing;
  readonly log: DecisionLog | null;
  readonly fleet: Fleet;
  /** Endpoints that somebody keeps, beside those of the configuration. */
  readonly routes: ManagedRoutes;
  /** A part of the admin API that somebody else answers. */
  extension: AdminExtension | null = null;
  /** What the admin API asks for: made anew at every start, or with a store kept beside its data. */
  adminToken = newAdminToken();
  /** The file that it is kept in; null while it is in none. */
  adminTokenPath: string | null = null;
  readonly #configAgain: () => GatewayConfig;
  readonly #ports: Ports;
  #adminFiles: AdminFiles | null = null;
  readonly #stopped = new AbortController();
  #timers: NodeJS.Timeout[] = [];
  #sweeper: NodeJS.Timeout | undefined;
  #isStopping = false;

  /** @param configAgain reads the configuration again when somebody asks for it; throws an InputError when it is wrong */
  constructor(config: GatewayConfig, configAgain: () => GatewayConfig = () => config) {
    super(config);
    this.#configAgain = configAgain;
    // Before the decision log, which begins anew when it is opened: a gateway that cannot listen leaves the old one alone.
    this.#ports = new Ports(config, {
      public: publicHandler(this),
      admin: adminHandler(this),
      refused: (status) => this.metrics.refused(status),
      fault: (error) => this.fault(error),
    });
    this.ring = new DecisionRing(config.limits.decisions);
    this.log = config.decisionLog === null ? null : new DecisionLog(config.decisionLog, (error) => this.fault(error));
    const { log, metrics, ring } = this;
    this.fleet = new Fleet({ config, log, metrics, ring, nowUs: () => this.nowUs() });
    this.routes = new ManagedFleet(this.fleet, () => this.nowMs());
  }

  /**
   * Listens. Replicas need not be there: they join when they are well.
   * @param isAnnounced whether programs of this machine find it by the folder of its data at once, where it has a store; else
   * `announce` says when
   */
  async start({ isAnnounced = true }: { readonly isAnnounced?: boolean } = {}): Promise<void> {
    await this.services.open();
    if (this.config.store !== null) {
      this.#adminFiles = new AdminFiles(this.config.dataDir);
      this.#takeToken(this.#adminFiles.knownToken());
    }
    await Promise.all([this.fleet.check(), this.#ports.start()]);
    if (isAnnounced) this.announce();
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#watch();
    await this.fleet.scrape();
  }

  /** Writes into the folder of its data where it is. For who has that folder for himself: another's files would be overwritten. */
  announce(): void {
    if (this.#adminFiles === null) return;
    this.#takeToken(this.#adminFiles.token());
    this.#adminFiles.tell(this.adminUrl, this.adminToken);
  }

  /** @param token as it is kept; null while it is not */
  #takeToken(token: string | null): void {
    if (token === null) return;
    this.adminToken = token;
    this.adminTokenPath = this.#adminFiles!.tokenPath;
  }

  get url(): string {
    return this.#ports.url;
  }

  get adminUrl(): string {
    return this.#ports.adminUrl;
  }

  get endpoints(): ReadonlyMap<string, Endpoint> {
    return this.fleet.endpoints;
  }

  get store(): Store | null {
    return this.services.store;
  }

  /** Sees to it that usage so far is in the store. */
  foldUsage(): Promise<void> {
    return this.services.fold();
  }

  /** Its metrics in Prometheus' text format. */
  metricsText(): string {
    const flow = new Map([...this.endpoints.values()].map((endpoint) => [endpoint.name, endpoint.flow]));
    return metricsText(this, { ...this.services.metrics, flow, listeners: this.#ports.listeners });
  }

  /** Aborted when the gateway has no more to say. */
  get stopSignal(): AbortSignal {
    return this.#stopped.signal;
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
    const files = this.#ports.readFiles(config);
    this.fleet.configure(config);
    this.#ports.renew(files, config.timeouts);
    this.config = config;
    this.budget.share = config.retries.budget;
    this.services.configure(config);
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
      for (const exchange of this.underWay()) exchange.timeOut();
      this.#ports.cutSoon();
    }, drainMs);
    if (this.inFlight > 0) {
      await this.exchanges.emptied();
      if (!isLate) await new Promise((resolve) => setTimeout(resolve, Math.min(LINGER_MS, drainMs)));
    }
    this.#isStopping = true;
    this.#stopped.abort();
    this.#adminFiles?.withdraw();
    const stopped = this.#ports.stop();
    if (isLate) this.#ports.cutSoon();
    await stopped;
    clearTimeout(deadline);
    clearInterval(this.#sweeper);
    await this.fleet.close();
    await this.services.close();
    this.log?.close();
  }

  #sweep(): void {
    const nowUs = this.nowUs();
    const { timeouts } = this.config;
    for (const exchange of this.underWay()) exchange.check(nowUs, SWEEP_MS, timeouts);
    this.log?.flush();
    this.services.flush();
    // Connections whose last response began before the draining would wait for more.
    if (this.#isStopping) this.#ports.closeIdle();
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
