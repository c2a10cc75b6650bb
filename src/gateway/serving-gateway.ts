import { randomStream } from '../kernel/random-stream.js';
import type { Access } from './access/access.js';
import type { GatewayConfig } from './config/gateway-config.js';
import { RefusalRing } from './decisions/refusal-ring.js';
import type { EndpointDirectory } from './fleet/endpoint-directory.js';
import type { Fleet } from './fleet/fleet.js';
import type { LiveReplica } from './fleet/replica/live-replica.js';
import type { Journalled } from './metering/commit-turn.js';
import { MeterPool } from './metering/meter-pool.js';
import { RetryBudget } from './proxy/attempts.js';
import type { Exchange } from './proxy/exchange.js';
import { ExchangeList } from './proxy/exchange-list.js';
import type { TrafficRecorder } from './recording/traffic-recorder.js';
import type { FinishedRequest } from './request/request-record.js';
import type { PublicHost } from './server/public-handler.js';
import { Services } from './services.js';
import { GatewayMetrics } from './telemetry/gateway-metrics.js';
import type { Tracing } from './telemetry/tracing/tracing.js';

/** What requests ask of a gateway: its clock, its fleet, what it counts and keeps, and its list of those under way. */
export abstract class ServingGateway implements PublicHost {
  readonly metrics = new GatewayMetrics();
  readonly meters = new MeterPool();
  abstract readonly fleet: Fleet;
  readonly budget: RetryBudget;
  isDraining = false;
  config: GatewayConfig;
  /** Hears of what should not happen: a bug, or a decision log that cannot be written any more. */
  onFault: (error: unknown) => void = () => {};
  /** Hears of what its keeper may want to know, a line each. */
  onWarning: (line: string) => void = () => {};
  readonly exchanges = new ExchangeList();
  protected readonly services: Services;
  readonly #random;
  readonly #startedMs = performance.now();
  /** Microseconds since 1970 at which its clock began. */
  readonly epochUs = Math.round((performance.timeOrigin + this.#startedMs) * 1000);
  /** Requests for which no replica was chosen. */
  readonly refusals: RefusalRing;

  constructor(config: GatewayConfig) {
    this.config = config;
    this.refusals = new RefusalRing(config.limits.decisions, this.epochUs);
    this.budget = new RetryBudget(config.retries.budget);
    this.#random = randomStream(config.seed, 'retries');
    this.services = new Services({
      config,
      epochUs: this.epochUs,
      nowUs: () => this.nowUs(),
      endpoints: () => this.fleet.endpoints.values(),
      fault: (error) => this.fault(error),
      warn: (line) => this.onWarning(line),
    });
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

  get bodyBytes(): number {
    return this.config.limits.bodyBytes;
  }

  get isReady(): boolean {
    return !this.isDraining && this.replicas().some(({ state }) => state === 'ready');
  }

  replicas(): LiveReplica[] {
    return this.fleet.directory.replicas();
  }

  get directory(): EndpointDirectory {
    return this.fleet.directory;
  }

  get access(): Access | null {
    return this.services.access;
  }

  /** Who has a key, whether or not requests need one. */
  get holders(): Access | null {
    return this.services.holders;
  }

  get recorder(): TrafficRecorder | null {
    return this.services.recorder;
  }

  get tracing(): Tracing | null {
    return this.services.tracing;
  }

  refused(status: number, id: string, code: string, client: string): void {
    this.metrics.refused(status);
    this.refusals.turnedAway(id, status, code, this.nowUs());
    this.services.refused(id, status, code, client);
  }

  fault(error: unknown): void {
    this.metrics.faults++;
    this.onFault(error);
  }

  note(request: FinishedRequest, waiter: Journalled): void {
    this.services.note(request, waiter);
  }

  ended(exchange: Exchange): void {
    this.exchanges.remove(exchange);
    const { error, record } = exchange;
    this.metrics.ended(record);
    if (record.attempts === 0 && error !== null) this.refusals.refused(record, error);
    this.services.ended(exchange);
  }

  get inFlight(): number {
    return this.exchanges.size;
  }

  /** The requests under way. */
  underWay(): Exchange[] {
    return this.exchanges.all();
  }
}
