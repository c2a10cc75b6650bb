import { grownArray, roomFor } from '../../kernel/grown-array.js';
import type { FleetView } from '../../policy/fleet-view.js';
import { HostedQueue } from '../../policy/host/hosted-queue.js';
import type { FlowControlSettings } from '../../policy/queueing/flow-control-settings.js';
import type { EnqueueOutcome } from '../../policy/queueing/gateway-queue.js';
import type { SloPriorities } from '../../policy/slo-classes.js';
import type { Waiting } from './waiting.js';

const NEVER = Number.POSITIVE_INFINITY;

/** Live requests in the policy host's queue, which knows them by small numbers. */
export class LiveQueue {
  /** The request that lost its place to the last one that joined. */
  displaced: Waiting | null = null;
  /** How long the last request to leave had waited. */
  queuedUs = 0;
  readonly #queue: HostedQueue;

  // By number.
  readonly #waiting: (Waiting | null)[] = [];
  readonly #free: number[] = [];
  #enteredUs = new Float64Array(0);
  #arrival = new Float64Array(0);
  #arrivals = 0;

  constructor(settings: FlowControlSettings, priorities: SloPriorities) {
    this.#queue = new HostedQueue(settings, priorities);
  }

  get size(): number {
    return this.#queue.size;
  }

  /** Whether `next` looks at the view that it is given. */
  get readsFleet(): boolean {
    return this.#queue.readsFleet;
  }

  /**
   * Other settings hold from now on. Requests keep their places and the time they have waited; where SLO classes mean
   * something else now, all queue again, in order of arrival. Lower limits hold for later arrivals: no waiting request
   * is refused.
   */
  configure(settings: FlowControlSettings, priorities: SloPriorities, classesChanged: boolean): void {
    if (!classesChanged) {
      this.#queue.configure(settings, priorities);
      return;
    }
    const numbers = this.#inOrder();
    this.#queue.reorder(settings, priorities, () => {
      for (const number of numbers) this.#enqueue(number, this.#waiting[number]!);
    });
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

  /** Takes out the request that may go to this fleet now; null when none may. */
  next(view: FleetView, nowUs: number): Waiting | null {
    const number = this.#queue.next(view);
    return number < 0 ? null : this.#leave(number, nowUs);
  }

  /** Removes a request from anywhere in the queue. */
  remove({ queueSlot }: Waiting, nowUs: number): void {
    this.#queue.remove(queueSlot);
    this.#leave(queueSlot, nowUs);
  }

  /** When the request that waits longest has waited too long. */
  get expiryUs(): number {
    const { requestTtlUs } = this.#queue.settings;
    if (requestTtlUs === 0 || this.#queue.size === 0) return NEVER;
    return this.#enteredUs[this.#queue.oldest()]! + requestTtlUs;
  }

  /** Takes out a request that has waited too long; null when there is none. */
  expired(nowUs: number): Waiting | null {
    if (this.expiryUs > nowUs) return null;
    const number = this.#queue.oldest();
    this.#queue.remove(number);
    return this.#leave(number, nowUs);
  }

  /** All that wait, in order of arrival. */
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
    return this.#queue.enqueue(number, facts.sloClass, facts.tenant, this.#enteredUs[number]!);
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
