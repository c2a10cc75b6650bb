import type { Store } from '../store/open-store.js';
import type { Access } from './access/access.js';
import type { GatewayConfig } from './config/gateway-config.js';
import { reloadConfig } from './config/reload-config.js';
import { DecisionLog } from './decisions/decision-log.js';
import { DecisionRing } from './decisions/decision-ring.js';
import type { RefusalRing } from './decisions/refusal-ring.js';
import { Draining } from './draining.js';
import type { Endpoint } from './fleet/endpoint/endpoint.js';
import { EndpointDirectory, flowsOf } from './fleet/endpoint-directory.js';
import { Fleet } from './fleet/fleet.js';
import { ManagedFleet } from './fleet/managed-fleet.js';
import type { ManagedRoutes } from './fleet/managed-routes.js';
import type { LiveReplica } from './fleet/replica/live-replica.js';
import { endpointsIn, seenMetrics } from './fleet/seen-metrics.js';
import { FormerWorkspaces } from './former-workspaces.js';
import { GatewayClock } from './gateway-clock.js';
import { LiveTraffic } from './live-traffic.js';
import { Ports } from './ports.js';
import type { Exchange } from './proxy/exchange.js';
import type { AdminApi } from './server/admin-api.js';
import { AdminFiles, newAdminToken } from './server/admin-files.js';
import { adminHandler } from './server/admin-handler.js';
import { Door } from './server/door.js';
import { type InheritedSockets, NO_SOCKETS } from './server/inherited-sockets.js';
import { publicHandler } from './server/public-handler.js';
import { Services } from './services.js';
import type { GatewayMetrics } from './telemetry/gateway-metrics.js';
import { metricsText } from './telemetry/metrics-text.js';

/** How often the timeouts of requests are checked. */
const SWEEP_MS = 250;

/**
 * The gateway: one process with a public port for clients and an admin port for operators. It starts, reloads and stops
 * its parts.
 */
export class Gateway {
  config: GatewayConfig;
  readonly clock = new GatewayClock();
  readonly ring: DecisionRing;
  /** The decision log; null where there is none. */
  readonly log: DecisionLog | null;
  readonly fleet: Fleet;
  /** Managed endpoints, beside those of the configuration. */
  readonly routes: ManagedRoutes;
  readonly traffic: LiveTraffic;
  /** The API of the admin port; null until one is installed. */
  api: AdminApi | null = null;
  /** The token of the admin API: new at every start, or with a store kept beside its data. */
  adminToken = newAdminToken();
  /** The file that holds the token; null while none does. */
  adminTokenPath: string | null = null;
  /** Called for bugs, and when the decision log cannot be written any more. */
  onFault: (error: unknown) => void = () => {};
  /** Called with a line that operators should see. */
  onWarning: (line: string) => void = () => {};
  readonly former: FormerWorkspaces;
  /** Called with a configuration that has been applied by a reload. */
  onReloaded: (config: GatewayConfig) => void = () => {};
  readonly #configAgain: () => GatewayConfig;
  readonly #services: Services;
  readonly #ports: Ports;
  readonly #draining: Draining;
  #adminFiles: AdminFiles | null = null;
  readonly #stopped = new AbortController();
  #timers: NodeJS.Timeout[] = [];
  #sweeper: NodeJS.Timeout | undefined;
  #isStopping = false;

  /** @param configAgain reads the configuration for a reload; throws an InputError when it is invalid */
  constructor(config: GatewayConfig, configAgain: () => GatewayConfig = () => config) {
    const { clock } = this;
    const directory = new EndpointDirectory();
    const fault = (error: unknown) => this.fault(error);
    this.config = config;
    this.#configAgain = configAgain;
    const warn = (line: string) => this.onWarning(line);
    this.#services = new Services({
      ...{ config, clock, fault, warn },
      endpoints: () => directory.byName.values(),
      past: () => ({ ...this.traffic.past, decisions: this.ring }),
      underWay: () => this.underWay(),
      forget: (workspace, untilMs) => this.former.removed(workspace, untilMs),
    });
    const parts = { config, clock, directory, services: this.#services };
    this.traffic = new LiveTraffic({ ...parts, onFault: (error) => this.onFault(error) });
    const { metrics } = this.traffic;
    // Before the decision log is opened, which truncates it: a gateway that cannot listen must leave the old one alone.
    this.#ports = new Ports(config, {
      public: publicHandler(this.traffic, new Door(config.http, config.listen.host)),
      admin: adminHandler(this, new Door(config.http, config.admin.host)),
      refused: (status) => metrics.refused(status),
      fault,
    });
    this.ring = new DecisionRing(config.limits.decisions);
    this.log = config.decisionLog === null ? null : new DecisionLog(config.decisionLog, fault);
    const { log, ring } = this;
    this.former = new FormerWorkspaces({ clock, ring, traffic: this.traffic, endpoints: () => this.endpoints });
    this.fleet = new Fleet({ config, directory, log, metrics, ring, warn, nowUs: clock.nowUs });
    this.routes = new ManagedFleet(this.fleet, clock.nowMs);
    const onBegin = () => {
      this.fleet.drain();
      for (const timer of this.#timers) clearInterval(timer);
    };
    this.#draining = new Draining({ ports: this.#ports, traffic: this.traffic, directory, onBegin });
  }

  /**
   * Listens. Replicas need not be up: they join once they are healthy.
   * @param isAnnounced whether other programs on this machine find it through its data folder at once; else `announce`
   * does it
   * @param sockets to listen on instead of opening the configured ports
   */
  async start({
    isAnnounced = true,
    sockets = NO_SOCKETS,
  }: {
    readonly isAnnounced?: boolean;
    readonly sockets?: InheritedSockets;
  } = {}): Promise<void> {
    await this.#services.open();
    if (this.config.store !== null) {
      this.#adminFiles = new AdminFiles(this.config.dataDir);
      this.#takeToken(this.#adminFiles.knownToken());
    }
    const settled = this.fleet.directory.settling.begin();
    await Promise.all([this.fleet.check().finally(settled), this.#ports.start(sockets)]);
    if (isAnnounced) this.announce();
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#watch();
    await this.fleet.scrape();
  }

  /** Writes its address and token into its data folder. The caller owns that folder: files of another gateway are overwritten. */
  announce(): void {
    if (this.#adminFiles === null) return;
    this.#takeToken(this.#adminFiles.token());
    this.#adminFiles.tell(this.adminUrl, this.adminToken);
  }

  /** @param token null while there is none */
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

  replicas(): LiveReplica[] {
    return this.fleet.directory.replicas();
  }

  get metrics(): GatewayMetrics {
    return this.traffic.metrics;
  }

  /** Requests for which no replica was chosen. */
  get refusals(): RefusalRing {
    return this.traffic.refusals;
  }

  get isDraining(): boolean {
    return this.traffic.isDraining;
  }

  get isReady(): boolean {
    return this.traffic.isReady;
  }

  /** Requests under way. */
  get inFlight(): number {
    return this.traffic.exchanges.size;
  }

  underWay(): Exchange[] {
    return this.traffic.exchanges.all();
  }

  get store(): Store | null {
    return this.#services.store;
  }

  /** Checks the API keys of requests; null where none are required. */
  get access(): Access | null {
    return this.#services.access;
  }

  /** Knows all API keys, whether or not requests need one. */
  get holders(): Access | null {
    return this.#services.holders;
  }

  get epochUs(): number {
    return this.clock.epochUs;
  }

  nowMs(): number {
    return this.clock.nowMs();
  }

  /** Moves usage that is in the journal into the store. */
  foldUsage(): Promise<void> {
    return this.#services.fold();
  }

  /** Its metrics in Prometheus' text format. @param workspaces only those of their endpoints; absent: all */
  metricsText(workspaces?: readonly string[]): string {
    const [endpoints, { inFlight, log, metrics }] = [endpointsIn(this.endpoints, workspaces), this];
    const view = { endpoints, inFlight, log, metrics, nowUs: this.clock.nowUs };
    const parts = { ...this.#services.metrics, flow: flowsOf(endpoints), listeners: this.#ports.listeners };
    const more = { prediction: this.traffic, shadows: this.fleet.shadowFigures() };
    return seenMetrics(metricsText(view, { ...parts, ...more }), this.endpoints, workspaces);
  }

  fault(error: unknown): void {
    this.traffic.fault(error);
  }

  /** Aborted when the gateway stops. */
  get stopSignal(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Reads the configuration again and applies it; an invalid one changes nothing. Returns changed keys that need a restart. */
  reloadConfig(): string[] {
    return this.reload(this.#configAgain());
  }

  /** Applies a configuration without dropping a request. */
  reload(given: GatewayConfig): string[] {
    const { config, needsRestart } = reloadConfig(this.config, given);
    const files = this.#ports.readFiles(config);
    this.fleet.configure(config);
    this.#ports.renew(files, config.timeouts);
    this.config = config;
    this.traffic.configure(config);
    this.#services.configure(config);
    if (!this.isDraining) this.#watch();
    try {
      this.onReloaded(config);
    } catch (error) {
      this.onWarning(`the configuration is reloaded, but not followed everywhere: ${(error as Error).message}`);
    }
    return needsRestart;
  }

  /** Refuses new requests from now on. Resolves when those under way have ended, at the latest after `drainMs`. */
  drain(drainMs = this.config.drainMs): Promise<void> {
    return this.#draining.begin(drainMs);
  }

  /** Drains, and stops. */
  async close(drainMs = this.config.drainMs): Promise<void> {
    await this.drain(drainMs);
    this.#isStopping = true;
    this.#stopped.abort();
    this.#adminFiles?.withdraw();
    const stopped = Promise.all([this.#ports.stop(), this.api?.close?.()]);
    if (this.#draining.isLate) this.#ports.cutSoon();
    await stopped;
    this.#draining.end();
    clearInterval(this.#sweeper);
    await this.fleet.close();
    await this.#services.close();
    this.log?.close();
  }

  #sweep(): void {
    this.traffic.review(this.clock.nowUs(), SWEEP_MS);
    this.log?.flush();
    this.#services.flush();
    // Connections whose last response began before the gateway drained would stay open for another request.
    if (this.#isStopping) this.#ports.closeIdle();
  }

  /** Checks and scrapes the replicas from now on. */
  #watch(): void {
    const { health, signals } = this.config;
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [
      setInterval(() => void this.fleet.check(), health.intervalMs),
      setInterval(() => void this.fleet.scrape(), signals.intervalMs),
    ];
  }
}
