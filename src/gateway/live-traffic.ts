import { type RandomStream, randomStream } from '../kernel/random-stream.js';
import { type ApiError, errorCode } from '../protocol/errors.js';
import type { GatewayConfig } from './config/gateway-config.js';
import { RefusalRing } from './decisions/refusal-ring.js';
import type { EndpointDirectory } from './fleet/endpoint-directory.js';
import { namedEndpoint } from './fleet/endpoint-name.js';
import type { GatewayClock } from './gateway-clock.js';
import type { PastTraffic } from './history/request-keeper.js';
import { RequestRing } from './history/request-ring.js';
import { TrafficSeries } from './history/traffic-series.js';
import { MeterPool } from './metering/response-meter.js';
import { ObservedEngines } from './prediction/observed-engines.js';
import type { ProfileBook } from './prediction/profile-book.js';
import type { Exchange } from './proxy/exchange.js';
import { ExchangeList } from './proxy/exchange-list.js';
import { ResponseHolders } from './proxy/response-holders.js';
import { RetryBudget } from './proxy/retry-budget.js';
import { BodyBudget } from './request/body-budget.js';
import type { PublicHost } from './server/public-handler.js';
import type { Services } from './services.js';
import { GatewayMetrics } from './telemetry/gateway-metrics.js';

export interface LiveTrafficParts {
  config: GatewayConfig;
  clock: GatewayClock;
  directory: EndpointDirectory;
  services: Services;
  /** Reports a bug. */
  onFault: (error: unknown) => void;
}

/** The requests of a gateway: what each needs, and what is counted and logged at its end. */
export class LiveTraffic implements PublicHost {
  config: GatewayConfig;
  /** The gateway accepts no more requests. */
  isDraining = false;
  readonly nowUs: () => number;
  readonly directory: EndpointDirectory;
  readonly services: Services;
  readonly metrics = new GatewayMetrics();
  readonly meters = new MeterPool();
  readonly exchanges = new ExchangeList();
  /** What requests show of their engines. */
  readonly observed = new ObservedEngines();
  /** The latency profiles of those engines; null where none are fitted. */
  profiles: ProfileBook | null = null;
  readonly bodies = new BodyBudget();
  readonly responses = new ResponseHolders();
  readonly budget: RetryBudget;
  /** Requests for which no replica was chosen. */
  readonly refusals: RefusalRing;
  /** The last requests that reached an endpoint, and what endpoints served lately. */
  readonly requests = new RequestRing();
  readonly series: TrafficSeries;
  readonly #random: RandomStream;
  readonly #onFault: (error: unknown) => void;

  constructor({ clock, config, directory, onFault, services }: LiveTrafficParts) {
    this.config = config;
    this.nowUs = clock.nowUs;
    this.directory = directory;
    this.services = services;
    this.budget = new RetryBudget(config.retries.budget);
    this.refusals = new RefusalRing(config.limits.decisions, clock.epochUs);
    this.series = new TrafficSeries(clock.nowUs, (endpoint) => directory.byName.has(endpoint));
    this.#random = randomStream(config.seed, 'retries');
    this.#onFault = onFault;
  }

  /** What it remembers of requests that have ended. */
  get past(): Omit<PastTraffic, 'decisions'> {
    const { directory, refusals, requests } = this;
    return { requests, refusals, named: (endpoint) => namedEndpoint(directory.byName, endpoint) };
  }

  /** Forgets the requests of some endpoints that ended until then. */
  forget(isOf: (endpoint: string) => boolean, untilUs: number): void {
    this.requests.forget(isOf, untilUs);
    this.refusals.forget(isOf, untilUs);
    this.series.forget(isOf);
  }

  configure(config: GatewayConfig): void {
    this.config = config;
    this.budget.share = config.retries.budget;
  }

  get isReady(): boolean {
    return !this.isDraining && this.directory.replicas().some(({ state }) => state === 'ready');
  }

  /** Finds replicas that hang and applies the time-outs of requests; called every `everyMs`. */
  review(nowUs: number, everyMs: number): void {
    for (const endpoint of this.directory.byName.values()) endpoint.review(nowUs);
    for (const exchange of this.exchanges.all()) exchange.check(nowUs, everyMs, this.config.timeouts);
  }

  jitter(): number {
    return this.#random.next();
  }

  fault(error: unknown): void {
    this.metrics.faults++;
    this.#onFault(error);
  }

  refused(id: string, error: ApiError, keyId: string, client: string): void {
    this.metrics.refused(error.status);
    this.refusals.turnedAway(id, error, keyId, this.nowUs());
    this.services.refused(id, error.status, errorCode(error), client);
  }

  ended(exchange: Exchange): void {
    const { error, record } = exchange;
    this.exchanges.remove(exchange);
    this.metrics.ended(record);
    this.requests.ended(record);
    this.series.ended(record);
    record.sampler?.finished(record);
    if (record.attempts === 0 && error !== null) this.refusals.refused(record, error);
    this.services.ended(exchange);
  }
}
