import { randomBytes } from 'node:crypto';
import { randomStream } from '../kernel/random-stream.js';
import { DecisionLog } from './decisions/decision-log.js';
import { DecisionRing } from './decisions/decision-ring.js';
import type { Endpoint } from './fleet/endpoint.js';
import { Fleet } from './fleet/fleet.js';
import type { LiveReplica } from './fleet/live-replica.js';
import type { GatewayConfig } from './gateway-config.js';
import { GatewayMetrics } from './gateway-metrics.js';
import type { Exchange } from './proxy/exchange.js';
import type { Outcome } from './proxy/exchange-host.js';
import { ExchangeList } from './proxy/exchange-list.js';
import { RetryBudget } from './proxy/retry-budget.js';
import { reloadConfig } from './reload-config.js';
import { adminHandler } from './server/admin-handler.js';
import { Listener, readTls } from './server/listener.js';
import { continueHandler, type PublicHost, publicHandler } from './server/public-handler.js';

/** How often requests under way are looked at. */
const SWEEP_MS = 250;
/** How long a gateway that drains still answers after its last request: who sends one meanwhile is told, not cut off. */
const LINGER_MS = 100;

/** The gateway: one process, a public port for clients and an admin port for its keepers. */
export class Gateway implements PublicHost {
  readonly metrics = new GatewayMetrics();
  readonly ring: DecisionRing;
  readonly log: DecisionLog | null;
  readonly fleet: Fleet;
  /** What the admin API asks for: made anew at every start. */
  readonly adminToken = randomBytes(24).toString('base64url');
  readonly budget: RetryBudget;
  isDraining = false;
  config: GatewayConfig;
  /** Hears of what should not happen: a bug, or a decision log that cannot be written any more. */
  onFault: (error: unknown) => void = () => {};
  readonly #configAgain: () => GatewayConfig;
  readonly #public: Listener;
  readonly #admin: Listener;
  readonly #exchanges = new ExchangeList();
  readonly #random;
  readonly #startedMs = performance.now();
  #timers: NodeJS.Timeout[] = [];
  #sweeper: NodeJS.Timeout | undefined;
  #isStopping = false;
  /** Who waits for the last request to end. */
  #whenIdle: () => void = () => {};

  /** @param configAgain reads the configuration again when somebody asks for it; throws an InputError when it is wrong */
  constructor(config: GatewayConfig, configAgain: () => GatewayConfig = () => config) {
    this.config = config;
    this.#configAgain = configAgain;
    const { headerBytes } = config.limits;
    const refused = (status: number) => this.refused(status);
    this.#public = new Listener(config.listen, {
      headerBytes,
      refused,
      handler: publicHandler(this),
      continueHandler: continueHandler(this),
    });
    this.#admin = new Listener(config.admin, { headerBytes, refused, handler: adminHandler(this) });
    this.ring = new DecisionRing(config.limits.decisions);
    this.log = config.decisionLog === null ? null : new DecisionLog(config.decisionLog, (error) => this.fault(error));
    this.budget = new RetryBudget(config.retries.budget);
    this.#random = randomStream(config.seed, 'retries');
    const { log, metrics, ring } = this;
    this.fleet = new Fleet({ config, log, metrics, ring, nowUs: () => this.nowUs() });
  }

  /** Listens. Replicas need not be there: they join when they are well. */
  async start(): Promise<void> {
    await Promise.all([this.fleet.check(), this.#public.start(), this.#admin.start()]);
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

  retried(): void {
    this.metrics.retries++;
  }

  refused(status: number): void {
    this.metrics.refused(status);
  }

  fault(error: unknown): void {
    this.metrics.faults++;
    this.onFault(error);
  }

  began(exchange: Exchange): void {
    this.#exchanges.add(exchange);
  }

  ended(exchange: Exchange, outcome: Outcome): void {
    this.#exchanges.remove(exchange);
    this.metrics.ended(outcome);
    this.fleet.requestEnded();
    if (this.isDraining && this.inFlight === 0) this.#whenIdle();
  }

  models(): string[] {
    return this.fleet.models();
  }

  endpointFor(model: string, name: string | null): Endpoint {
    return this.fleet.endpointFor(model, name);
  }

  // What its keepers ask.

  get inFlight(): number {
    return this.#exchanges.size;
  }

  /** The requests under way. */
  underWay(): Exchange[] {
    return this.#exchanges.all();
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
    if (forPublic) this.#public.renew(forPublic);
    if (forAdmin) this.#admin.renew(forAdmin);
    this.config = config;
    this.budget.share = config.retries.budget;
    this.fleet.configure(config);
    if (!this.isDraining) this.#watch();
    return needsRestart;
  }

  /** Takes no new requests and says so, lets those under way end, and is gone. */
  async close(drainMs = this.config.drainMs): Promise<void> {
    this.isDraining = true;
    for (const timer of this.#timers) clearInterval(timer);
    let isLate = false;
    const deadline = setTimeout(() => {
      isLate = true;
      for (const exchange of this.#exchanges.all()) exchange.timeOut();
      this.#cut();
    }, drainMs);
    if (this.inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
      if (!isLate) await new Promise((resolve) => setTimeout(resolve, Math.min(LINGER_MS, drainMs)));
    }
    this.#isStopping = true;
    const stopped = Promise.all([this.#public.stop(), this.#admin.stop()]);
    if (isLate) this.#cut();
    await stopped;
    clearTimeout(deadline);
    clearInterval(this.#sweeper);
    await this.fleet.close();
    this.log?.close();
  }

  #cut(): void {
    this.#public.cut();
    this.#admin.cut();
  }

  #sweep(): void {
    const nowMs = this.nowMs();
    const { timeouts } = this.config;
    for (const exchange of this.#exchanges.all()) exchange.check(nowMs, SWEEP_MS, timeouts);
    this.log?.flush();
    // Connections whose last answer began before the draining would wait for more.
    if (this.#isStopping) this.#public.closeIdle();
  }

  /** Looks after the replicas from now on. */
  #watch(): void {
    const { health, signals } = this.config;
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [
      repeat(health.intervalMs, () => this.fleet.check()),
      repeat(signals.intervalMs, () => this.fleet.scrape()),
    ];
  }
}

/** Repeats something; the next time is not begun before the last has ended. */
function repeat(ms: number, task: () => Promise<void>): NodeJS.Timeout {
  let running = false;
  return setInterval(() => {
    if (running) return;
    running = true;
    void task().finally(() => {
      running = false;
    });
  }, ms);
}
