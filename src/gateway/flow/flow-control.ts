import { createFleetView, type FleetView } from '../../policy/fleet-view.js';
import { type FlowControlSettings, saturationLimits } from '../../policy/queueing/flow-control-settings.js';
import {
  type SaturationDetector,
  type SaturationLimits,
  saturationDetector,
} from '../../policy/queueing/saturation.js';
import type { SloPriorities } from '../../policy/slo-classes.js';
import { ApiError } from '../../protocol/errors.js';
import { queueExpired, queueFull, queueShed, refusedEntry } from '../errors.js';
import type { PolicyConfig } from '../gateway-config.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { Alarm, NewAlarm } from './alarm.js';
import { FlowCounts } from './flow-counts.js';
import type { FleetLoad, LiveGate } from './live-gate.js';
import { LiveQueue } from './live-queue.js';
import type { Waiting } from './waiting.js';

const NEVER = Number.POSITIVE_INFINITY;
const AS_MANY_AS_MAY_GO = Number.POSITIVE_INFINITY;
/** For those who do not look at it. */
const NO_FLEET = createFleetView(0);
/** For those who ask when to come back: nobody is sent away for longer. */
const LONGEST_WAIT_S = 60;
/** Of a request that never stood in the queue. */
const NOT_QUEUED = -1;
/** How much of the mean wait the latest one is. */
const NEWS = 1 / 16;

/** What flow control needs of its endpoint. */
export interface FlowHost {
  nowUs(): number;
  /** The length of a request's prompt. Throws an ApiError when it has none that could be measured. */
  tokensOf(facts: RequestFacts): number;
  /** The fleet as policies see it, for requests of a model. */
  viewFor(model: string, nowUs: number): FleetView;
  /** The fleet as saturation detectors see it. */
  saturationView(nowUs: number): FleetView;
}

/**
 * Between a request and the choice of its replica: the admission policy, then the queue, if there is one. It is the simulator's
 * own code, asked at the same moments: on every arrival and, by settings, on every end of a request or at every tick.
 */
export class FlowControl {
  readonly counts = new FlowCounts();
  readonly #host: FlowHost;
  readonly #gate: LiveGate;
  readonly #alarm: Alarm;
  #alarmUs = NEVER;
  #settings: FlowControlSettings | null = null;
  #classes = '';
  #queue: LiveQueue | null = null;
  #detector: SaturationDetector = saturationDetector('never');
  #limits: SaturationLimits = { queueDepth: 0, kvUsed: 0, maxConcurrency: 0 };
  /** Everybody goes on at once. */
  #passes = true;
  #tickUs = NEVER;
  /** How many may still try to leave in the present round. */
  #tries = 0;
  #isDispatching = false;
  /** A running mean of what those who left the queue had waited. */
  #meanUs = 0;
  #closed: { error: ApiError; cause: string } | null = null;

  constructor(policy: PolicyConfig, host: FlowHost, gate: LiveGate, newAlarm: NewAlarm) {
    this.#host = host;
    this.#gate = gate;
    this.#alarm = newAlarm(() => this.#wake());
    this.configure(policy, { replicas: 0, tenants: [] });
  }

  /** Classes and their priorities, as the policy has them. */
  get priorities(): SloPriorities {
    return this.#gate.priorities;
  }

  /** Requests in the queue. */
  get waiting(): number {
    return this.#queue?.size ?? 0;
  }

  /** Requests in the queue by class; classes that nobody has defined together, as `other`. */
  waitingByClass(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { facts } of this.#queue?.all() ?? []) {
      const name = this.priorities.isKnown(facts.sloClass) ? facts.sloClass : 'other';
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  /**
   * Takes a policy on. Those who wait go on waiting, in the same order, or go at once when there is to be no queue; what is
   * learnt of the admission policy stays if that is the same.
   */
  configure(policy: PolicyConfig, load: FleetLoad): void {
    const { flowControl, sloPriorities } = policy;
    const classes = JSON.stringify([sloPriorities, flowControl?.sloTargetsUs]);
    this.#gate.configure(policy, load);
    if (flowControl === null) this.#openQueue();
    else {
      this.#detector = saturationDetector(flowControl.saturationDetector);
      this.#limits = saturationLimits(flowControl);
      if (this.#queue === null) this.#queue = new LiveQueue(flowControl, this.#gate.priorities);
      else this.#queue.configure(flowControl, this.#gate.priorities, classes !== this.#classes);
    }
    this.#settings = flowControl;
    this.#classes = classes;
    this.#passes = this.#closed === null && this.#gate.isOpen && this.#queue === null;
    this.#tickUs = NEVER;
    if (this.waiting > 0) this.#startTicks(this.#host.nowUs());
    this.fleetChanged();
    this.#setAlarm();
  }

  /** The number of replicas, or what is in flight on them, has changed otherwise than by a request. */
  recount(policy: PolicyConfig, load: FleetLoad): void {
    this.#gate.configure(policy, load);
    this.fleetChanged();
  }

  /** A request has come. */
  enter(waiting: Waiting): void {
    if (this.#passes) {
      this.counts.admitted++;
      waiting.mayGo(0);
      return;
    }
    if (this.#closed !== null) {
      this.#turnOut(waiting, this.#closed, NOT_QUEUED);
      return;
    }
    const nowUs = this.#host.nowUs();
    if (!this.#gate.isOpen && !this.#admit(waiting, nowUs)) return;
    this.counts.admitted++;
    const queue = this.#queue;
    if (queue === null) {
      waiting.mayGo(0);
      return;
    }
    const outcome = queue.join(waiting, nowUs);
    if (queue.displaced !== null) {
      this.counts.shed++;
      const cause = 'shed from the gateway queue for a more important one';
      queue.displaced.refused(queueShed(this.#returnS()), cause, queue.queuedUs);
    } else if (outcome === 'rejected') {
      this.counts.rejected++;
      waiting.refused(queueFull(queue.size, this.#returnS()), 'the gateway queue is full', NOT_QUEUED);
    }
    this.#startTicks(nowUs);
    this.#try(1);
  }

  /**
   * Its client has gone, or its time is up: it waits no longer and hears nothing any more. Returns how long it has waited, -1
   * if it does not wait.
   */
  leave(waiting: Waiting): number {
    if (waiting.queueSlot < 0) return NOT_QUEUED;
    const queue = this.#queue!;
    queue.remove(waiting, this.#host.nowUs());
    const { queuedUs } = queue;
    this.counts.left++;
    // In order of arrival, others may have waited for this one alone.
    this.fleetChanged();
    return queuedUs;
  }

  /** A request of this tenant has gone to a replica. */
  placed(tenant: string): void {
    this.#gate.placed(tenant);
  }

  /** A request that went to a replica has ended there, in whatever way. */
  departed(tenant: string): void {
    this.#gate.left(tenant);
    if (this.#hasToTry) this.#try(1);
  }

  /** Replicas have joined, left, recovered or told how they are. */
  fleetChanged(): void {
    if (this.#hasToTry) this.#try(AS_MANY_AS_MAY_GO);
  }

  /** Everybody who waits or comes is told this. */
  close(error: ApiError, cause: string): void {
    this.#closed = { error, cause };
    this.#passes = false;
    this.#alarm.set(NEVER);
    const queue = this.#queue;
    this.#queue = null;
    const nowUs = this.#host.nowUs();
    for (const one of queue?.all() ?? []) {
      queue!.remove(one, nowUs);
      this.#turnOut(one, this.#closed, queue!.queuedUs);
    }
  }

  #turnOut(waiting: Waiting, { error, cause }: { error: ApiError; cause: string }, queuedUs: number): void {
    this.counts.turnedOut++;
    waiting.refused(error, cause, queuedUs);
  }

  /** Whether the admission policy lets it in; it has been told if not. */
  #admit(waiting: Waiting, nowUs: number): boolean {
    const { facts } = waiting;
    const host = this.#host;
    const gate = this.#gate;
    try {
      const tokens = gate.readsTokens ? host.tokensOf(facts) : 0;
      const view = gate.readsFleet ? host.viewFor(facts.model, nowUs) : NO_FLEET;
      const reason = gate.refuse(facts, tokens, nowUs, view);
      if (reason === null) return true;
      this.counts.refuse(reason);
      const afterUs = gate.retryAfterUs();
      const afterS = Number.isNaN(afterUs) ? this.#returnS() : Math.ceil(afterUs / 1e6);
      waiting.refused(refusedEntry(reason, afterS), reason, NOT_QUEUED);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      waiting.refused(error, 'malformed', NOT_QUEUED);
    }
    return false;
  }

  /** Without ticks, requests leave when something happens. */
  get #hasToTry(): boolean {
    return this.#queue !== null && this.#queue.size > 0 && this.#settings!.dispatchTickUs === 0;
  }

  #startTicks(nowUs: number): void {
    const { dispatchTickUs } = this.#settings!;
    if (dispatchTickUs > 0 && this.#tickUs === NEVER) this.#tickUs = nowUs + dispatchTickUs;
  }

  /** Lets so many leave, as long as they may. What a departing one causes is dealt with after it, not inside. */
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
    const view = this.#detector.reads.length === 0 ? NO_FLEET : this.#host.saturationView(nowUs);
    const waiting = queue.next(this.#detector.measure(view, this.#limits), nowUs);
    if (waiting === null) return false;
    const { queuedUs } = queue;
    this.counts.dispatched++;
    this.counts.queuedUs += queuedUs;
    this.#meanUs += (queuedUs - this.#meanUs) * NEWS;
    waiting.mayGo(queuedUs);
    return true;
  }

  #setAlarm(): void {
    const atUs = Math.min(this.#tickUs, this.#queue?.expiryUs ?? NEVER);
    // One that rings too early does no harm.
    if (atUs >= this.#alarmUs) return;
    this.#alarmUs = atUs;
    this.#alarm.set(atUs);
  }

  #wake(): void {
    this.#alarmUs = NEVER;
    const nowUs = this.#host.nowUs();
    for (let late = this.#queue?.expired(nowUs); late; late = this.#queue?.expired(nowUs)) {
      this.counts.expired++;
      late.refused(
        queueExpired(this.#settings!.requestTtlUs / 1e6, this.#returnS()),
        'waited too long in the gateway queue',
        this.#queue!.queuedUs,
      );
    }
    if (this.#tickUs <= nowUs) {
      this.#tickUs = NEVER;
      this.#try(1);
      if (this.waiting > 0) this.#startTicks(nowUs);
    }
    this.#setAlarm();
  }

  /** There is no queue any more: everybody goes. */
  #openQueue(): void {
    const queue = this.#queue;
    this.#queue = null;
    const nowUs = this.#host.nowUs();
    for (const one of queue?.all() ?? []) {
      queue!.remove(one, nowUs);
      const { queuedUs } = queue!;
      this.counts.dispatched++;
      this.counts.queuedUs += queuedUs;
      one.mayGo(queuedUs);
    }
  }

  /** When to come back to a queue: after about as long as those waited who got through it. */
  #returnS(): number {
    return Math.min(LONGEST_WAIT_S, Math.max(1, Math.ceil(this.#meanUs / 1e6)));
  }
}
