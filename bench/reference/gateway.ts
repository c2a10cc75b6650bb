import type { FlowControlConfig } from '../../src/simulator/cluster-config.js';
import { meanUtilization } from './admission.js';
import { type GatewayEntry, GatewayQueue } from './gateway-queue.js';
import type { ReferenceRequest } from './request.js';
import type { RouterState } from './snapshots.js';

const TTL_EXPIRY = 6;
const DISPATCH_TICK = 7;

/** What the gateway needs from the cluster around it. */
export interface GatewayHost {
  clockUs: number;
  schedule(atUs: number, priority: number, run: () => void): void;
  look(model: string): RouterState;
  /** Sends the request on to routing. */
  dispatch(request: ReferenceRequest): void;
  lose(request: ReferenceRequest, status: 'gateway_rejected' | 'gateway_shed' | 'gateway_expired'): void;
  /** Nothing but the gateway itself could still change anything. */
  isAtRest(): boolean;
}

/** Holds requests back while the cluster is saturated and lets them go one at a time. */
export class Gateway {
  readonly #queue: GatewayQueue;
  #tickPending = false;

  constructor(
    readonly config: FlowControlConfig,
    readonly host: GatewayHost,
  ) {
    this.#queue = new GatewayQueue(config);
  }

  arrive(request: ReferenceRequest): void {
    const { host, config } = this;
    request.gatewayEnqueuedUs = host.clockUs;
    const { entry, shed } = this.#queue.enqueue(request, host.clockUs);
    if (shed !== null) host.lose(shed, 'gateway_shed');
    if (entry === null) host.lose(request, 'gateway_rejected');
    else this.#keep(entry, config.requestTtlUs);
    this.#tryDispatch();
  }

  /** A request has left its instance; without ticks, this is what lets the next one go. */
  departed(): void {
    if (this.config.dispatchTickUs === 0 && this.#queue.size > 0) this.#tryDispatch();
  }

  /** No event is left: requests that wait for a departure get one more attempt. */
  atRest(): boolean {
    const before = this.#queue.size;
    if (this.config.dispatchTickUs > 0 || before === 0) return false;
    this.#tryDispatch();
    return this.#queue.size < before;
  }

  #keep(entry: GatewayEntry, ttlUs: number): void {
    const { host } = this;
    entry.request.status = 'gateway_queued';
    if (ttlUs === 0) return;
    host.schedule(host.clockUs + ttlUs, TTL_EXPIRY, () => {
      if (entry.request.status !== 'gateway_queued') return;
      this.#queue.remove(entry);
      host.lose(entry.request, 'gateway_expired');
    });
  }

  #tryDispatch(): void {
    if (!this.#tickPending && this.config.dispatchTickUs > 0) this.#armTick();
    const entry = this.#queue.takeNext(this.#saturation(this.host.look('')));
    if (entry === undefined) return;
    entry.request.gatewayDispatchedUs = this.host.clockUs;
    this.host.dispatch(entry.request);
  }

  #armTick(): void {
    this.#tickPending = true;
    this.host.schedule(this.host.clockUs + this.config.dispatchTickUs, DISPATCH_TICK, () => this.#tick());
  }

  /** Ticks go on while a request waits, unless the cluster is idle: then no tick can change the result. */
  #tick(): void {
    const before = this.#queue.size;
    if (before > 0) this.#tryDispatch();
    const stuck = this.#queue.size === before && this.host.isAtRest();
    if (this.#queue.size > 0 && !stuck) this.#armTick();
    else this.#tickPending = false;
  }

  #saturation({ candidates }: RouterState): number {
    const { saturationDetector, queueDepthThreshold, kvCacheUtilThreshold, maxConcurrency } = this.config;
    switch (saturationDetector) {
      case 'never':
        return 0;
      case 'utilization':
        return meanUtilization(candidates, queueDepthThreshold, kvCacheUtilThreshold);
      case 'concurrency':
        return candidates.reduce((sum, c) => sum + c.inFlight, 0) / (candidates.length * maxConcurrency);
      default:
        throw new Error(`the reference has no saturation detector '${saturationDetector}'`);
    }
  }
}
