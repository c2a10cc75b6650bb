import type { FleetView } from '../fleet-view.js';
import { type FlowControlSettings, queueOptions, saturationLimits } from '../queueing/flow-control-settings.js';
import { type EnqueueOutcome, GatewayQueue, type QueueCandidate } from '../queueing/gateway-queue.js';
import { type SaturationDetector, type SaturationLimits, saturationDetector } from '../queueing/saturation.js';
import type { SloPriorities } from '../slo-classes.js';

/** Why a request left the queue, or never got into it, in every world. */
export const QUEUE_FULL = 'the gateway queue is full';
export const QUEUE_SHED = 'shed from the gateway queue for a more important one';
export const QUEUE_EXPIRED = 'waited too long in the gateway queue';

/**
 * The queue between admission and routing, the same in every world: settings, detector and rules of SLO classes in front of the
 * queue itself. The world decides when a request tries to leave: one try per arrival and, by `dispatchTickUs`, one per tick or
 * one per completion.
 */
export class HostedQueue {
  #settings!: FlowControlSettings;
  #priorities!: SloPriorities;
  #detector!: SaturationDetector;
  #limits!: SaturationLimits;
  /** A map, not an object: requests may name any class. */
  #targetsUs!: ReadonlyMap<string, number>;
  #queue: GatewayQueue;
  readonly #candidate: QueueCandidate = { priority: 0, tenant: '', nowUs: 0, sloTargetUs: 0 };

  constructor(settings: FlowControlSettings, priorities: SloPriorities) {
    this.#queue = new GatewayQueue(queueOptions(settings));
    this.#take(settings, priorities);
  }

  get settings(): FlowControlSettings {
    return this.#settings;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** The request that lost its place in the last `enqueue`, or -1. */
  get displaced(): number {
    return this.#queue.displaced;
  }

  /** Whether `next` looks at the view that it is given. */
  get readsFleet(): boolean {
    return this.#detector.reads.length > 0;
  }

  /** Other settings hold from now on. Waiting requests keep their places, also where the limits are lower now. */
  configure(settings: FlowControlSettings, priorities: SloPriorities): void {
    this.#queue.configure(queueOptions(settings));
    this.#take(settings, priorities);
  }

  /**
   * Other settings hold from now on and SLO classes mean something else: `enqueueAgain` puts the waiting requests into an empty
   * queue without limits, so that none of them is lost.
   */
  reorder(settings: FlowControlSettings, priorities: SloPriorities, enqueueAgain: () => void): void {
    this.#queue = new GatewayQueue({ ...queueOptions(settings), capacity: 0, bandCapacity: 0 });
    this.#take(settings, priorities);
    enqueueAgain();
    this.#queue.configure(queueOptions(settings));
  }

  /** @param targetUs the request's own target for `slo-deadline`, 0 for that of its class */
  enqueue(request: number, sloClass: string, tenant: string, nowUs: number, targetUs = 0): EnqueueOutcome {
    const { name, priority } = this.#priorities.classOf(sloClass);
    const candidate = this.#candidate;
    candidate.priority = priority;
    candidate.tenant = tenant;
    candidate.nowUs = nowUs;
    candidate.sloTargetUs = targetUs > 0 ? targetUs : (this.#targetsUs.get(name) ?? 0);
    return this.#queue.enqueue(request, candidate);
  }

  /** Takes out the request that may go to this fleet now; -1 when none may. */
  next(view: FleetView): number {
    return this.#queue.dequeue(this.#detector.measure(view, this.#limits));
  }

  /** Takes a request out wherever it stands; whether it was waiting. */
  remove(request: number): boolean {
    return this.#queue.remove(request);
  }

  /** The request that waits longest, or -1. */
  oldest(): number {
    return this.#queue.oldest();
  }

  /** Visits all that wait. Do not change the queue meanwhile. */
  forEach(visit: (request: number) => void): void {
    this.#queue.forEach(visit);
  }

  #take(settings: FlowControlSettings, priorities: SloPriorities): void {
    this.#settings = settings;
    this.#priorities = priorities;
    this.#detector = saturationDetector(settings.saturationDetector);
    this.#limits = saturationLimits(settings);
    this.#targetsUs = new Map(Object.entries(settings.sloTargetsUs));
  }
}
