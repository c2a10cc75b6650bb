import { createFleetView } from '../../policy/fleet-view.js';
import type { SloPriorities } from '../../policy/slo-classes.js';
import { ApiError } from '../../protocol/errors.js';
import type { PolicyConfig } from '../config/gateway-config.js';
import { refusedEntry } from '../errors.js';
import type { NewAlarm } from './alarm.js';
import { FlowCounts } from './flow-counts.js';
import type { FlowHost } from './flow-host.js';
import type { FleetLoad, LiveGate } from './live-gate.js';
import { NOT_QUEUED, type Waiting } from './waiting.js';
import { WaitingRoom } from './waiting-room.js';

/** For admission policies that do not look at it. */
const NO_FLEET = createFleetView(0);

/**
 * Between a request and the choice of its replica: the admission policy, then the queue, if there is one. It is the simulator's
 * own code, asked at the same moments: on every arrival and, by settings, on every end of a request or at every tick.
 */
export class FlowControl {
  readonly counts = new FlowCounts();
  readonly #host: FlowHost;
  readonly #gate: LiveGate;
  readonly #room: WaitingRoom;
  #classes = '';
  /** Everybody goes on at once. */
  #passes = true;
  #closed: { error: ApiError; cause: string } | null = null;

  constructor(policy: PolicyConfig, host: FlowHost, gate: LiveGate, newAlarm: NewAlarm) {
    this.#host = host;
    this.#gate = gate;
    this.#room = new WaitingRoom(host, this.counts, newAlarm);
    this.configure(policy, { replicas: 0, tenants: [] });
  }

  /** Classes and their priorities, as the policy has them. */
  get priorities(): SloPriorities {
    return this.#gate.priorities;
  }

  /** Requests in the queue. */
  get waiting(): number {
    return this.#room.size;
  }

  /** Requests in the queue by class; classes that nobody has defined together, as `other`. */
  waitingByClass(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { facts } of this.#room.all()) {
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
    this.#room.configure(flowControl, this.#gate.priorities, classes !== this.#classes);
    this.#classes = classes;
    this.#passes = this.#closed === null && this.#gate.isOpen && !this.#room.hasQueue;
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
    if (this.#room.hasQueue) this.#room.join(waiting, nowUs);
    else waiting.mayGo(0);
  }

  /**
   * Its client has gone, or its time is up: it waits no longer and hears nothing any more. Returns how long it has waited, -1
   * if it does not wait.
   */
  leave(waiting: Waiting): number {
    return waiting.queueSlot < 0 ? NOT_QUEUED : this.#room.leave(waiting);
  }

  /** A request of this tenant has gone to a replica. */
  placed(tenant: string): void {
    this.#gate.placed(tenant);
  }

  /** A request that went to a replica has ended there, in whatever way. */
  departed(tenant: string): void {
    this.#gate.left(tenant);
    this.#room.departed();
  }

  /** Replicas have joined, left, recovered or told how they are. */
  fleetChanged(): void {
    this.#room.fleetChanged();
  }

  /** Everybody who waits or comes is told this. */
  close(error: ApiError, cause: string): void {
    const closed = { error, cause };
    this.#closed = closed;
    this.#passes = false;
    this.#room.close((one, queuedUs) => this.#turnOut(one, closed, queuedUs));
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
      const afterS = Number.isNaN(afterUs) ? this.#room.returnS() : Math.ceil(afterUs / 1e6);
      waiting.refused(refusedEntry(reason, afterS), reason, NOT_QUEUED);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      waiting.refused(error, 'malformed', NOT_QUEUED);
    }
    return false;
  }
}
