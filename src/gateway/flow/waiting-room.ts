import { createFleetView } from '../../policy/fleet-view.js';
import { QUEUE_EXPIRED, QUEUE_FULL, QUEUE_SHED } from '../../policy/host/hosted-queue.js';
import type { FlowControlSettings } from '../../policy/queueing/flow-control-settings.js';
import type { SloPriorities } from '../../policy/slo-classes.js';
import { queueExpired, queueFull, queueShed } from '../errors.js';
import type { Alarm, NewAlarm } from './alarm.js';
import type { FlowCounts } from './flow-counts.js';
import type { FlowHost } from './flow-host.js';
import { LiveQueue } from './live-queue.js';
import { NOT_QUEUED, type Waiting } from './waiting.js';

const NEVER = Number.POSITIVE_INFINITY;
const AS_MANY_AS_MAY_GO = Number.POSITIVE_INFINITY;
/** For detectors that do not look at the fleet. */
const NO_FLEET = createFleetView(0);
/** The longest retry-after of a refusal. */
const LONGEST_WAIT_S = 60;
/** Weight of the latest wait in the mean wait. */
const LATEST_WEIGHT = 1 / 16;

/**
 * Where requests wait until the fleet has capacity, if the policy has a queue. Depending on the settings they leave
 * when a request arrives or ends and when the fleet changes, or one at every tick; requests that have waited too long
 * are refused.
 */
export class WaitingRoom {
  readonly #host: FlowHost;
  readonly #counts: FlowCounts;
  readonly #alarm: Alarm;
  #alarmUs = NEVER;
  #settings: FlowControlSettings | null = null;
  #queue: LiveQueue | null = null;
  #tickUs = NEVER;
  /** Tries left in the present round. */
  #tries = 0;
  #isDispatching = false;
  /** Running mean of the waits of dispatched requests. */
  #meanUs = 0;

  constructor(host: FlowHost, counts: FlowCounts, newAlarm: NewAlarm) {
    this.#host = host;
    this.#counts = counts;
    this.#alarm = newAlarm(() => this.#wake());
  }

  /** Without one no request waits. */
  get hasQueue(): boolean {
    return this.#queue !== null;
  }

  get size(): number {
    return this.#queue?.size ?? 0;
  }

  /** All that wait, in the order of arrival. */
  all(): Waiting[] {
    return this.#queue?.all() ?? [];
  }

  /** Other settings hold: waiting requests go on waiting, in the same order, or go at once without a queue. */
  configure(settings: FlowControlSettings | null, priorities: SloPriorities, classesChanged: boolean): void {
    if (settings === null) this.#letAllGo();
    else {
      if (this.#queue === null) this.#queue = new LiveQueue(settings, priorities);
      else this.#queue.configure(settings, priorities, classesChanged);
    }
    this.#settings = settings;
    this.#tickUs = NEVER;
    if (this.size > 0) this.#startTicks(this.#host.nowUs());
    this.fleetChanged();
    this.#setAlarm();
  }

  /** A request waits from now on, or goes at once, or is refused when the queue is full. */
  join(waiting: Waiting, nowUs: number): void {
    const queue = this.#queue!;
    const outcome = queue.join(waiting, nowUs);
    if (queue.displaced !== null) {
      this.#counts.shed++;
      queue.displaced.refused(queueShed(this.retryAfterS()), QUEUE_SHED, queue.queuedUs);
    } else if (outcome === 'rejected') {
      this.#counts.rejected++;
      waiting.refused(queueFull(queue.size, this.retryAfterS()), QUEUE_FULL, NOT_QUEUED);
    }
    this.#startTicks(nowUs);
    this.#try(1);
  }

  /** It leaves the queue without a callback. Returns how long it has waited. */
  leave(waiting: Waiting): number {
    const queue = this.#queue!;
    queue.remove(waiting, this.#host.nowUs());
    const { queuedUs } = queue;
    this.#counts.left++;
    // In order of arrival, others may have waited for this one only.
    this.fleetChanged();
    return queuedUs;
  }

  /** A request has ended on a replica. */
  departed(): void {
    if (this.#hasToTry) this.#try(1);
  }

  /** Replicas have joined, left, recovered or reported. */
  fleetChanged(): void {
    if (this.#hasToTry) this.#try(AS_MANY_AS_MAY_GO);
  }

  /** Empties the queue for good: `refuse` gets each request, in order of arrival, and how long it has waited. */
  close(refuse: (waiting: Waiting, queuedUs: number) => void): void {
    this.#alarm.set(NEVER);
    this.#empty(refuse);
  }

  /** When to retry: after about as long as dispatched requests have waited. */
  retryAfterS(): number {
    return Math.min(LONGEST_WAIT_S, Math.max(1, Math.ceil(this.#meanUs / 1e6)));
  }

  #letAllGo(): void {
    this.#empty((one, queuedUs) => {
      this.#counts.dispatched++;
      this.#counts.queuedUs += queuedUs;
      one.mayGo(queuedUs);
    });
  }

  #empty(visit: (waiting: Waiting, queuedUs: number) => void): void {
    const queue = this.#queue;
    this.#queue = null;
    if (queue === null) return;
    const nowUs = this.#host.nowUs();
    for (const one of queue.all()) {
      queue.remove(one, nowUs);
      visit(one, queue.queuedUs);
    }
  }

  /** Without ticks, requests leave when something happens. */
  get #hasToTry(): boolean {
    return this.#queue !== null && this.#queue.size > 0 && this.#settings!.dispatchTickUs === 0;
  }

  /** Tries to dispatch up to `times` requests. Attempts caused by a departing request run after it, not inside. */
  #try(times: number): void {
    this.#tries += times;
    if (this.#isDispatching) return;
    this.#isDispatching = true;
    try {
      while (this.#tries > 0 && this.#queue !== null && this.#queue.size > 0) {
        this.#tries--;
        if (!this.#dispatch(this.#queue)) break;
      }
    } finally {
      this.#tries = 0;
      this.#isDispatching = false;
    }
    this.#setAlarm();
  }

  /** Lets at most one request out of the queue. */
  #dispatch(queue: LiveQueue): boolean {
    const nowUs = this.#host.nowUs();
    const waiting = queue.next(queue.readsFleet ? this.#host.saturationView(nowUs) : NO_FLEET, nowUs);
    if (waiting === null) return false;
    const { queuedUs } = queue;
    this.#counts.dispatched++;
    this.#counts.queuedUs += queuedUs;
    this.#meanUs += (queuedUs - this.#meanUs) * LATEST_WEIGHT;
    waiting.mayGo(queuedUs);
    return true;
  }

  #startTicks(nowUs: number): void {
    const { dispatchTickUs } = this.#settings!;
    if (dispatchTickUs > 0 && this.#tickUs === NEVER) this.#tickUs = nowUs + dispatchTickUs;
  }

  #setAlarm(): void {
    const atUs = Math.min(this.#tickUs, this.#queue?.expiryUs ?? NEVER);
    // An early alarm does no harm.
    if (atUs >= this.#alarmUs) return;
    this.#alarmUs = atUs;
    this.#alarm.set(atUs);
  }

  #wake(): void {
    this.#alarmUs = NEVER;
    const nowUs = this.#host.nowUs();
    for (let late = this.#queue?.expired(nowUs); late; late = this.#queue?.expired(nowUs)) {
      this.#counts.expired++;
      late.refused(
        queueExpired(this.#settings!.requestTtlUs / 1e6, this.retryAfterS()),
        QUEUE_EXPIRED,
        this.#queue!.queuedUs,
      );
    }
    if (this.#tickUs <= nowUs) {
      this.#tickUs = NEVER;
      this.#try(1);
      if (this.size > 0) this.#startTicks(nowUs);
    }
    this.#setAlarm();
  }
}
