import { grownArray, roomFor } from '../../kernel/grown-array.js';
import { isSheddable } from '../slo-classes.js';
import { Band, Flow } from './band.js';
import type { DispatchOrder } from './dispatch-orders.js';
import type { FairnessPolicy } from './fairness-policies.js';
import { MemberLinks } from './member-list.js';

export interface GatewayQueueOptions {
  dispatchOrder: DispatchOrder;
  fairness: FairnessPolicy;
  /** Waiting requests in all; 0 for no limit. */
  capacity: number;
  /** Waiting requests per SLO priority; 0 for no limit. */
  bandCapacity: number;
  /** Whether a request may take the place of a less important sheddable one when the queue is full. */
  shedding: boolean;
  /** Saturation at which the least important band is held back; 1 holds all bands alike. */
  usageLimit: number;
}

/** What the queue needs to know of a new request. The host may reuse one object. */
export interface QueueCandidate {
  priority: number;
  /** By name, since tenants take turns in order of their names; '' for none. */
  tenant: string;
  nowUs: number;
  /** For `slo-deadline`: the request's own target or that of its class; 0 for none. */
  sloTargetUs: number;
}

/** 'displaced': accepted in place of `GatewayQueue.displaced`, which has left the queue. */
export type EnqueueOutcome = 'accepted' | 'displaced' | 'rejected';

const UNNAMED_TENANT = 'default';

/**
 * The queue between admission and routing: bands by SLO priority, in each band one FIFO per tenant.
 * Requests are small whole numbers that the host chooses (a row, a slot); each waits at most once at a time. The queue knows
 * neither clock nor fleet: the host decides when to dequeue and measures how full the fleet is.
 */
export class GatewayQueue {
  /** The request that lost its place in the last `enqueue`, or -1. */
  displaced = -1;
  #size = 0;
  /** Arrivals so far, rejected ones included. */
  #arrivals = 0;

  #options: GatewayQueueOptions;
  /** By descending priority. A band stays once created: ceilings count empty bands. */
  readonly #bands: Band[] = [];
  readonly #bandLinks = new MemberLinks();
  readonly #flowLinks = new MemberLinks();
  readonly #flows: Flow[] = [];
  readonly #idleFlows: Flow[] = [];

  /** By request: the id of its flow plus one, 0 when it does not wait. */
  #flowOf = new Int32Array(0);
  #sequence = new Float64Array(0);
  #deadlineUs = new Float64Array(0);

  constructor(options: GatewayQueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /** Other rules hold from now on. Waiting requests keep their places, also where the limits are lower now. */
  configure(options: GatewayQueueOptions): void {
    this.#options = options;
  }

  enqueue(request: number, candidate: QueueCandidate): EnqueueOutcome {
    const { capacity, bandCapacity } = this.#options;
    const sequence = this.#arrivals++;
    const band = this.#bandOf(candidate.priority);
    this.displaced = -1;
    if (bandCapacity > 0 && band.waiting.size >= bandCapacity) return 'rejected';
    if (capacity > 0 && this.#size >= capacity) {
      this.displaced = this.#victimOf(candidate.priority);
      if (this.displaced < 0) return 'rejected';
      this.remove(this.displaced);
    }
    this.#append(request, band, candidate, sequence);
    return this.displaced < 0 ? 'accepted' : 'displaced';
  }

  /** Takes out the request that may go at this saturation; -1 when none may. */
  dequeue(saturation: number): number {
    const { dispatchOrder, fairness } = this.#options;
    const band =
      dispatchOrder.band === 'highest-priority' ? this.#highestOpenBand(saturation) : this.#oldestOpenBand(saturation);
    if (band === undefined) return -1;
    const flow = fairness.tenant === 'next-in-turn' ? band.nextInTurn() : this.#flow(band.waiting.first);
    const request = dispatchOrder.request === 'oldest' ? flow.waiting.first : this.#mostUrgent(flow);
    band.lastServed = flow.tenant;
    this.remove(request);
    return request;
  }

  /** Takes a request out wherever it stands; whether it was waiting. */
  remove(request: number): boolean {
    if (!this.has(request)) return false;
    const flow = this.#flow(request);
    flow.band.waiting.remove(request);
    flow.waiting.remove(request);
    if (flow.waiting.size === 0) {
      flow.band.close(flow);
      this.#idleFlows.push(flow);
    }
    this.#flowOf[request] = 0;
    this.#size--;
    return true;
  }

  has(request: number): boolean {
    return request < this.#flowOf.length && this.#flowOf[request] !== 0;
  }

  /** The oldest request, or -1. */
  oldest(): number {
    const band = this.#bandOfOldest();
    return band < 0 ? -1 : this.#bands[band]!.waiting.first;
  }

  /** Visits all that wait: by descending priority, then in order of arrival. Do not change the queue meanwhile. */
  forEach(visit: (request: number) => void): void {
    for (const { waiting } of this.#bands) {
      for (let request = waiting.first; request >= 0; request = waiting.after(request)) visit(request);
    }
  }

  #flow(request: number): Flow {
    return this.#flows[this.#flowOf[request]! - 1]!;
  }

  #bandOf(priority: number): Band {
    let position = 0;
    while (position < this.#bands.length && this.#bands[position]!.priority > priority) position++;
    const known = this.#bands[position];
    if (known?.priority === priority) return known;
    const band = new Band(priority, this.#bandLinks);
    this.#bands.splice(position, 0, band);
    return band;
  }

  #append(request: number, band: Band, { tenant, nowUs, sloTargetUs }: QueueCandidate, sequence: number): void {
    this.#reserve(request);
    const flow = this.#flowFor(band, tenant === '' ? UNNAMED_TENANT : tenant);
    this.#flowOf[request] = flow.id + 1;
    this.#sequence[request] = sequence;
    this.#deadlineUs[request] = sloTargetUs > 0 ? nowUs + sloTargetUs : Number.POSITIVE_INFINITY;
    flow.waiting.append(request);
    band.waiting.append(request);
    this.#size++;
  }

  #flowFor(band: Band, tenant: string): Flow {
    const open = band.find(tenant);
    if (open !== undefined) return open;
    let flow = this.#idleFlows.pop();
    if (flow === undefined) {
      flow = new Flow(this.#flows.length, this.#flowLinks);
      this.#flows.push(flow);
    }
    band.open(flow, tenant);
    return flow;
  }

  /** The request to shed for a new one: the latest of the least important sheddable band, if that is below the new one's. */
  #victimOf(priority: number): number {
    if (!this.#options.shedding) return -1;
    const lowest = this.#bands.findLast((band) => band.waiting.size > 0)!;
    return isSheddable(lowest.priority) && lowest.priority < priority ? lowest.waiting.last : -1;
  }

  /** From 1 for the most important band linearly down to the usage limit for the least important one. */
  #ceiling(position: number): number {
    const bands = this.#bands.length;
    return bands === 1 ? 1 : 1 - (position * (1 - this.#options.usageLimit)) / (bands - 1);
  }

  /** The first band with waiting requests, unless it or one above it is held back. */
  #highestOpenBand(saturation: number): Band | undefined {
    for (let i = 0; i < this.#bands.length; i++) {
      if (saturation >= this.#ceiling(i)) return undefined;
      if (this.#bands[i]!.waiting.size > 0) return this.#bands[i];
    }
    return undefined;
  }

  /** The band of the oldest request, unless it is held back. */
  #oldestOpenBand(saturation: number): Band | undefined {
    const position = this.#bandOfOldest();
    return position < 0 || saturation >= this.#ceiling(position) ? undefined : this.#bands[position];
  }

  #bandOfOldest(): number {
    let oldest = -1;
    let earliest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.#bands.length; i++) {
      const first = this.#bands[i]!.waiting.first;
      if (first >= 0 && this.#sequence[first]! < earliest) {
        oldest = i;
        earliest = this.#sequence[first]!;
      }
    }
    return oldest;
  }

  /** The earliest deadline; the first to arrive among equals. */
  #mostUrgent(flow: Flow): number {
    let urgent = flow.waiting.first;
    for (let request = urgent; request >= 0; request = flow.waiting.after(request)) {
      if (this.#deadlineUs[request]! < this.#deadlineUs[urgent]!) urgent = request;
    }
    return urgent;
  }

  #reserve(request: number): void {
    if (request < this.#flowOf.length) return;
    const room = roomFor(request, this.#flowOf.length);
    this.#flowOf = grownArray(this.#flowOf, room);
    this.#sequence = grownArray(this.#sequence, room);
    this.#deadlineUs = grownArray(this.#deadlineUs, room);
    this.#bandLinks.reserve(request);
    this.#flowLinks.reserve(request);
  }
}
