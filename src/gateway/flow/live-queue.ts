import { grownArray, roomFor } from '../../kernel/grown-array.js';
import { type FlowControlSettings, queueOptions } from '../../policy/queueing/flow-control-settings.js';
import { type EnqueueOutcome, GatewayQueue, type QueueCandidate } from '../../policy/queueing/gateway-queue.js';
import type { SloPriorities } from '../../policy/slo-classes.js';
import type { Waiting } from './waiting.js';

const NEVER = Number.POSITIVE_INFINITY;

/** Live requests in the simulator's queue, which knows them by small numbers. */
export class LiveQueue {
  /** Who lost its place to the last newcomer. */
  displaced: Waiting | null = null;
  /** How long the last one to leave had waited, whoever let it go. */
  queuedUs = 0;
  #settings: FlowControlSettings;
  #priorities: SloPriorities;
  /** Requests may name any class, so not by the names of an object. */
  #targetsUs: ReadonlyMap<string, number>;
  #queue: GatewayQueue;
  readonly #candidate: QueueCandidate = { priority: 0, tenant: '', nowUs: 0, sloTargetUs: 0 };

  // By number.
  readonly #waiting: (Waiting | null)[] = [];
  readonly #free: number[] = [];
  #enteredUs = new Float64Array(0);
  #arrival = new Float64Array(0);
  #arrivals = 0;

  constructor(settings: FlowControlSettings, priorities: SloPriorities) {
    this.#settings = settings;
    this.#priorities = priorities;
    this.#targetsUs = new Map(Object.entries(settings.sloTargetsUs));
    this.#queue = new GatewayQueue(queueOptions(settings));
  }

  get size(): number {
    return this.#queue.size;
  }

  /**
   * Other settings hold from now on. Everybody keeps his place and the time he has waited; where classes mean something else
   * now, everybody queues again, in the order of arrival. Limits are for those who come: nobody has to go.
   */
  configure(settings: FlowControlSettings, priorities: SloPriorities, classesChanged: boolean): void {
    this.#settings = settings;
    this.#priorities = priorities;
    this.#targetsUs = new Map(Object.entries(settings.sloTargetsUs));
    const options = queueOptions(settings);
    if (classesChanged) {
      const numbers = this.#inOrder();
      this.#queue = new GatewayQueue({ ...options, capacity: 0, bandCapacity: 0 });
      for (const number of numbers) this.#enqueue(number, this.#waiting[number]!);
    }
    this.#queue.configure(options);
  }

  join(waiting: Waiting, nowUs: number): EnqueueOutcome {
    const number = this.#free.pop() ?? this.#waiting.length;
    this.#reserve(number);
    this.#enteredUs[number] = nowUs;
    this.#arrival[number] = this.#arrivals++;
    this.#waiting[number] = waiting;
    const outcome = this.#enqueue(number, waiting);
    this.displaced = outcome === 'displaced' ? this.#leave(this.#queue.displaced, nowUs) : null;
    if (outcome === 'rejected') this.#release(number);
    else waiting.queueSlot = number;
    return outcome;
  }

  /** Takes out the request that may go now; null when none may. */
  next(saturation: number, nowUs: number): Waiting | null {
    const number = this.#queue.dequeue(saturation);
    return number < 0 ? null : this.#leave(number, nowUs);
  }

  /** Takes a request out wherever it stands. */
  remove({ queueSlot }: Waiting, nowUs: number): void {
    this.#queue.remove(queueSlot);
    this.#leave(queueSlot, nowUs);
  }

  /** When the one that waits longest has waited too long. */
  get expiryUs(): number {
    const { requestTtlUs } = this.#settings;
    if (requestTtlUs === 0 || this.#queue.size === 0) return NEVER;
    return this.#enteredUs[this.#queue.oldest()]! + requestTtlUs;
  }

  /** Takes out one that has waited too long; null when nobody has. */
  expired(nowUs: number): Waiting | null {
    if (this.expiryUs > nowUs) return null;
    const number = this.#queue.oldest();
    this.#queue.remove(number);
    return this.#leave(number, nowUs);
  }

  /** All that wait, in the order of arrival. */
  all(): Waiting[] {
    return this.#inOrder().map((number) => this.#waiting[number]!);
  }

  #inOrder(): number[] {
    const numbers: number[] = [];
    this.#queue.forEach((number) => {
      numbers.push(number);
    });
    return numbers.sort((a, b) => this.#arrival[a]! - this.#arrival[b]!);
  }

  #enqueue(number: number, { facts }: Waiting): EnqueueOutcome {
    const candidate = this.#candidate;
    candidate.priority = this.#priorities.priorityOf(facts.sloClass);
    candidate.tenant = facts.tenant;
    candidate.nowUs = this.#enteredUs[number]!;
    candidate.sloTargetUs = this.#targetsUs.get(facts.sloClass) ?? 0;
    return this.#queue.enqueue(number, candidate);
  }

  #leave(number: number, nowUs: number): Waiting {
    this.queuedUs = nowUs - this.#enteredUs[number]!;
    return this.#release(number);
  }

  #release(number: number): Waiting {
    const waiting = this.#waiting[number]!;
    this.#waiting[number] = null;
    this.#free.push(number);
    waiting.queueSlot = -1;
    return waiting;
  }

  #reserve(number: number): void {
    if (number < this.#enteredUs.length) return;
    const room = roomFor(number, this.#enteredUs.length);
    this.#enteredUs = grownArray(this.#enteredUs, room);
    this.#arrival = grownArray(this.#arrival, room);
  }
}
