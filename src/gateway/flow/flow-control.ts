import type { PolicyHost } from '../../policy/host/policy-host.js';
import type { SloPriorities } from '../../policy/slo-classes.js';
import { ApiError } from '../../protocol/errors.js';
import type { PolicyConfig } from '../config/gateway-config.js';
import { refusedEntry } from '../errors.js';
import type { NewAlarm } from './alarm.js';
import { FlowCounts } from './flow-counts.js';
import type { FlowHost } from './flow-host.js';
import { NOT_QUEUED, type Waiting } from './waiting.js';
import { WaitingRoom } from './waiting-room.js';

/**
 * Between a request and the choice of its replica: the admission policy, then the queue, if there is one. Both are the
 * policy host's, as in the simulator, and run at the same moments: on every arrival and, by settings, on every
 * completion or tick.
 */
export class FlowControl {
  readonly counts = new FlowCounts();
  readonly #host: FlowHost;
  readonly #policies: PolicyHost;
  readonly #room: WaitingRoom;
  #classes = '';
  /** Every request goes on at once. */
  #passes = true;
  #closed: { error: ApiError; cause: string } | null = null;

  constructor(policy: PolicyConfig, host: FlowHost, policies: PolicyHost, newAlarm: NewAlarm) {
    this.#host = host;
    this.#policies = policies;
    this.#room = new WaitingRoom(host, this.counts, newAlarm);
    this.configure(policy);
  }

  /** Classes and their priorities, as the policy has them. */
  get priorities(): SloPriorities {
    return this.#policies.priorities;
  }

  /** Requests in the queue. */
  get waiting(): number {
    return this.#room.size;
  }

  /** Requests in the queue by SLO class; classes that are not configured count together, as `other`. */
  waitingByClass(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { facts } of this.#room.all()) {
      const name = this.priorities.isKnown(facts.sloClass) ? facts.sloClass : 'other';
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  /**
   * The host's policies have changed. Waiting requests go on waiting, in the same order, or go at once without a queue.
   */
  configure(policy: PolicyConfig): void {
    const { flowControl, sloPriorities } = policy;
    const classes = JSON.stringify([sloPriorities, flowControl?.sloTargetsUs]);
    this.#room.configure(flowControl, this.priorities, classes !== this.#classes);
    this.#classes = classes;
    this.#passes = this.#closed === null && this.#policies.admitsAll && !this.#room.hasQueue;
  }

  /** A request has arrived. */
  enter(waiting: Waiting): void {
    if (this.#passes) {
      this.counts.admitted++;
      waiting.mayGo(0);
      return;
    }
    if (this.#closed !== null) {
      this.#refuseClosed(waiting, this.#closed, NOT_QUEUED);
      return;
    }
    const nowUs = this.#host.nowUs();
    if (!this.#policies.admitsAll && !this.#admit(waiting, nowUs)) return;
    this.counts.admitted++;
    if (this.#room.hasQueue) this.#room.join(waiting, nowUs);
    else waiting.mayGo(0);
  }

  /**
   * Its client has disconnected, or its time is up: it leaves the queue without a callback. Returns how long it has
   * waited, -1 if it was not waiting.
   */
  leave(waiting: Waiting): number {
    return waiting.queueSlot < 0 ? NOT_QUEUED : this.#room.leave(waiting);
  }

  /** A request that went to a replica has ended there, in any way. */
  departed(): void {
    this.#room.departed();
  }

  /** Replicas have joined, left, recovered or reported. */
  fleetChanged(): void {
    this.#room.fleetChanged();
  }

  /** All requests that wait or arrive are refused with this. */
  close(error: ApiError, cause: string): void {
    const closed = { error, cause };
    this.#closed = closed;
    this.#passes = false;
    this.#room.close((one, queuedUs) => this.#refuseClosed(one, closed, queuedUs));
  }

  #refuseClosed(waiting: Waiting, { error, cause }: { error: ApiError; cause: string }, queuedUs: number): void {
    this.counts.turnedOut++;
    waiting.refused(error, cause, queuedUs);
  }

  /** Whether the admission policy admits it; it has been refused if not. */
  #admit(waiting: Waiting, nowUs: number): boolean {
    const { facts } = waiting;
    const policies = this.#policies;
    const { admissionNeedsFleet, admissionNeedsTokens } = policies.policies;
    try {
      const tokens = admissionNeedsTokens ? this.#host.tokensOf(facts) : 0;
      const sloClass = policies.priorities.classOf(facts.sloClass);
      policies.describe(nowUs, tokens, sloClass, policies.tenantNumber(facts.tenant), facts.session);
      if (admissionNeedsFleet) this.#host.lookFor(facts.model, nowUs);
      const reason = policies.refuse();
      if (reason === null) return true;
      this.counts.refuse(reason);
      const afterUs = policies.retryAfterUs();
      const afterS = Number.isNaN(afterUs) ? this.#room.retryAfterS() : Math.ceil(afterUs / 1e6);
      waiting.refused(refusedEntry(reason, afterS, policies.shortfall()), reason, NOT_QUEUED);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      waiting.refused(error, 'malformed', NOT_QUEUED);
    }
    return false;
  }
}
