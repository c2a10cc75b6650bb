import { EventFifo } from '../kernel/events/event-fifo.js';
import { type HostedQueue, QUEUE_EXPIRED, QUEUE_FULL, QUEUE_SHED } from '../policy/host/hosted-queue.js';
import { UNNAMED_CLASS } from '../policy/slo-classes.js';
import type { ReplicaEvents } from '../replica/replica-requests.js';
import { STATUS } from '../replica/request-outcomes.js';
import { type RequestTable, requestId } from '../workload/request-table.js';
import type { SessionDriver, Workload } from '../workload/workload.js';
import { Arrivals } from './arrivals.js';
import { ClientSlots } from './client-slots.js';
import type { ClusterConfig } from './cluster-config.js';
import type { ClusterParts } from './cluster-parts.js';

const NEVER = Number.POSITIVE_INFINITY;
/** Replicas that no policy looks at run on their own and catch up after this many arrivals: those must not accumulate. */
const CATCH_UP = 65_536;

/**
 * The pipeline of a cluster in virtual time: arrival, admission, gateway queue, routing, replica. Order of events: by time; at
 * equal times reports of steps that end, then the cluster, then its replicas, and in the cluster requests that the client held back,
 * arrivals, admissions, routings, expiries, ticks. So a client that responds to the end of a response at once is routed with what
 * that end has changed, whether its request is known up front or not. Every kind but the later turns of sessions and the ends of
 * requests is in time order by itself, so each is a plain ring. Replicas run on their own up to the cluster's next event; only when
 * the end of a request can cause something (a session's next turn, a dispatch, a held request) are they kept in step.
 */
export class Cluster implements ReplicaEvents {
  nowUs = 0;
  /** Refusals by reason; requests refused, shed or expired, by SLO class. */
  readonly reasons = new Map<string, number>();
  readonly shed = new Map<string, number>();

  readonly #parts: ClusterParts;
  readonly #table: RequestTable;
  readonly #sessions: SessionDriver | undefined;
  readonly #horizonUs: number;
  readonly #admissionUs: number;
  readonly #routingUs: number;
  readonly #tickUs: number;
  readonly #ttlUs: number;
  readonly #refreshUs: number;
  readonly #inStep: boolean;
  /** Null: the client sends every request when it is due. */
  readonly #slots: ClientSlots | null;
  readonly #arrivals: Arrivals;
  readonly #admissions = new EventFifo();
  readonly #routings = new EventFifo();
  readonly #expiries = new EventFifo();
  #tickAtUs = NEVER;
  /** Requests that left replicas since the last dispatch by completion. */
  #departures = 0;
  #unlooked = 0;

  constructor(config: ClusterConfig, workload: Workload, parts: ClusterParts) {
    this.#parts = parts;
    this.#table = workload.table;
    this.#sessions = workload.sessions;
    this.#horizonUs = config.horizonUs ?? NEVER;
    this.#admissionUs = config.admissionLatencyUs;
    this.#routingUs = config.routingLatencyUs;
    this.#tickUs = config.flowControl?.dispatchTickUs ?? 0;
    this.#ttlUs = config.flowControl?.requestTtlUs ?? 0;
    this.#refreshUs = config.snapshotRefreshUs;
    this.#slots =
      config.maxInFlight === undefined ? null : new ClientSlots(config.maxInFlight, workload.table, parts.outcomes);
    this.#inStep =
      workload.sessions !== undefined || this.#slots !== null || (parts.queue !== null && this.#tickUs === 0);
    this.#arrivals = new Arrivals(workload.table, parts.progress);
  }

  run(): void {
    const { replicas, router } = this.#parts;
    for (;;) {
      let at = this.#nextUs();
      // A clock reads signals for as long as an event is known, or the end of a request may cause one.
      if (at !== NEVER || (this.#inStep && replicas.some(({ isBusy }) => isBusy)))
        at = Math.min(at, router.signals.nextUs);
      if (this.#inStep ? this.#runEarliest(at) : this.#catchUp(at)) continue;
      if (at === NEVER && this.#dispatchWhenIdle()) continue;
      if (at > this.#horizonUs || at === NEVER) return;
      this.nowUs = at;
      if (router.signals.nextUs === at) router.signals.read(at);
      else if (this.#slots !== null && this.#slots.nextUs === at) this.#clientActs(this.#slots);
      else if (this.#arrivals.nextUs() === at) this.#arrive(this.#arrivals.pop(at));
      else if (this.#admissions.nextUs === at) this.#admit(this.#admissions.pop());
      else if (this.#routings.nextUs === at) this.#route(this.#routings.pop());
      else if (this.#expiries.nextUs === at) this.#expire(this.#expiries.pop());
      else this.#tick();
    }
  }

  firstToken(row: number, atUs: number): void {
    this.#parts.router.firstToken(row, atUs);
  }

  left(row: number, completed: boolean, atUs: number): void {
    this.#parts.router.left(row, atUs, completed);
    this.#departures++;
    this.#followUp(row, completed, atUs);
  }

  #followUp(row: number, completed: boolean, atUs: number): void {
    this.#slots?.ends(row, atUs);
    if (this.#sessions === undefined) return;
    const next = this.#sessions.left(this.#table, row, completed, atUs, this.#horizonUs);
    if (next < 0) return;
    const pauseUs = this.#table.arrivalUs[next]! - atUs;
    if (pauseUs > 0) this.#table.pauseUs[next] = pauseUs;
    this.#parts.outcomes.reserve(this.#table.count);
    this.#arrivals.push(next);
  }

  #nextUs(): number {
    let next = this.#arrivals.nextUs();
    if (this.#admissions.nextUs < next) next = this.#admissions.nextUs;
    if (this.#routings.nextUs < next) next = this.#routings.nextUs;
    if (this.#expiries.nextUs < next) next = this.#expiries.nextUs;
    if (this.#slots !== null && this.#slots.nextUs < next) next = this.#slots.nextUs;
    return Math.min(this.#tickAtUs, next);
  }

  /** Lets every replica run up to a time; what they do does not depend on where that time is. */
  #catchUp(untilUs: number): false {
    const { replicas, router, looks } = this.#parts;
    if (!looks && untilUs <= this.#horizonUs && untilUs !== NEVER && ++this.#unlooked < CATCH_UP) return false;
    this.#unlooked = 0;
    for (let i = 0; i < replicas.length; i++) {
      const replica = replicas[i]!;
      if (replica.nextUs > untilUs || (replica.nextUs === untilUs && !replica.reports.isDue(untilUs))) continue;
      replica.advance(untilUs);
      router.signals.moved(i);
    }
    return false;
  }

  /**
   * Runs the earliest replica event before a time, or a report at that time: reports first, then lowest index first.
   * Whether there was one.
   */
  #runEarliest(beforeUs: number): boolean {
    const { replicas, router, queue } = this.#parts;
    let earliest = -1;
    let atUs = beforeUs;
    let reports = false;
    for (let i = 0; i < replicas.length; i++) {
      const replica = replicas[i]!;
      if (replica.nextUs > atUs || (replica.nextUs === atUs && (reports || !replica.reports.isDue(atUs)))) continue;
      atUs = replica.nextUs;
      reports = replica.reports.isDue(atUs);
      earliest = i;
    }
    if (earliest < 0) return false;
    this.#departures = 0;
    replicas[earliest]!.runNext();
    router.signals.moved(earliest);
    // The deadline of a request that has left is no event: only a departure moves the cluster's clock.
    if (this.#departures > 0) this.nowUs = atUs;
    if (queue !== null && this.#tickUs === 0) {
      for (let i = 0; i < this.#departures && queue.size > 0; i++) this.#dispatch(queue);
    }
    return true;
  }

  #arrive(row: number): void {
    if (this.#slots === null || this.#slots.take(row, this.nowUs)) this.#send(row);
  }

  #send(row: number): void {
    this.#parts.outcomes.status[row] = STATUS.in_pipeline;
    this.#admissions.push(this.nowUs + this.#admissionUs, row);
  }

  /** The client sends a request that it held back, or gives up on one in the queue. */
  #clientActs(slots: ClientSlots): void {
    const row = slots.send(this.nowUs);
    if (row < 0) this.#expire(slots.giveUp());
    else this.#send(row);
  }

  #admit(row: number): void {
    const { router, trace, queue } = this.#parts;
    router.look(row, this.nowUs);
    const reason = router.refuse();
    if (reason !== null) {
      this.#lose(row, STATUS.rejected, reason, true);
      return;
    }
    trace?.admitted();
    if (queue === null) this.#routings.push(this.nowUs + this.#routingUs, row);
    else this.#enqueue(row, queue);
  }

  #enqueue(row: number, queue: HostedQueue): void {
    const { sloClass, sloClasses, sloTargetUs, tenant, tenants } = this.#table;
    const outcome = queue.enqueue(
      row,
      sloClasses.name(sloClass[row]!),
      tenants.name(tenant[row]!),
      this.nowUs,
      sloTargetUs[row]!,
    );
    if (queue.displaced >= 0) {
      this.#leaveQueue(queue.displaced);
      this.#lose(queue.displaced, STATUS.gateway_shed, QUEUE_SHED, true);
    }
    if (outcome !== 'rejected') {
      this.#parts.outcomes.status[row] = STATUS.gateway_queued;
      if (this.#ttlUs > 0) this.#expiries.push(this.nowUs + this.#ttlUs, row);
      this.#slots?.queued(row, this.nowUs);
    } else {
      this.#lose(row, STATUS.gateway_rejected, QUEUE_FULL, false);
    }
    this.#dispatch(queue);
  }

  /** Lets at most one request out of the queue. */
  #dispatch(queue: HostedQueue): boolean {
    const { router, outcomes } = this.#parts;
    if (this.#tickUs > 0 && this.#tickAtUs === NEVER) this.#tickAtUs = this.nowUs + this.#tickUs;
    router.lookAtFleet(this.nowUs);
    const row = queue.next(router.host.view);
    if (row < 0) return false;
    outcomes.status[row] = STATUS.in_pipeline;
    this.#leaveQueue(row);
    this.#routings.push(this.nowUs + this.#routingUs, row);
    return true;
  }

  #tick(): void {
    const queue = this.#parts.queue!;
    const dispatched = queue.size > 0 && this.#dispatch(queue);
    const more = queue.size > 0 && (dispatched || !this.#isStuck());
    this.#tickAtUs = more ? this.nowUs + this.#tickUs : NEVER;
  }

  /** No event can dispatch a request from the queue any more: ticks would never end. */
  #isStuck(): boolean {
    if (this.#arrivals.nextUs() !== NEVER || this.#admissions.size + this.#routings.size + this.#expiries.size > 0)
      return false;
    if (this.#slots !== null && this.#slots.nextUs !== NEVER) return false;
    let lastUs = 0;
    for (const replica of this.#parts.replicas) {
      if (replica.isBusy) return false;
      lastUs = Math.max(lastUs, replica.clockUs);
    }
    return this.nowUs - lastUs > this.#refreshUs;
  }

  /**
   * Without ticks, requests still queued after the last completion would wait without end: nothing runs, so try once
   * more.
   */
  #dispatchWhenIdle(): boolean {
    const { queue, replicas } = this.#parts;
    if (queue === null || queue.size === 0) return false;
    if (replicas.some((replica) => replica.isBusy)) return false;
    for (const replica of replicas) this.nowUs = Math.max(this.nowUs, replica.clockUs);
    if (this.#dispatch(queue)) return true;
    // Old signals may still show a full fleet: once more when they are refreshed.
    this.nowUs += this.#refreshUs;
    return this.#refreshUs > 0 && this.nowUs <= this.#horizonUs && this.#dispatch(queue);
  }

  #expire(row: number): void {
    if (!this.#parts.queue!.remove(row)) return;
    this.#leaveQueue(row);
    this.#lose(row, STATUS.gateway_expired, QUEUE_EXPIRED, true);
  }

  /** Requests enter the queue when they are admitted. */
  #leaveQueue(row: number): void {
    this.#parts.outcomes.gatewayWaitUs![row] = this.nowUs - this.#table.arrivalUs[row]! - this.#admissionUs;
  }

  #route(row: number): void {
    const { router, trace, outcomes, replicas } = this.#parts;
    router.look(row, this.nowUs);
    const chosen = router.pick(row, trace?.why);
    if (chosen < 0) {
      const { refusal } = router.host;
      if (refusal !== null) this.#lose(row, STATUS.rejected, refusal, true);
      else this.#lose(row, STATUS.routing_rejected, 'no instance serves its model', false);
      return;
    }
    trace?.picked(this.nowUs, () => requestId(this.#table, row), chosen, router.host);
    router.placed(row, chosen);
    outcomes.instance[row] = chosen;
    replicas[chosen]!.enqueue(row, this.nowUs);
  }

  /** The request ends here, and is counted. */
  #lose(row: number, status: number, reason: string, countShed: boolean): void {
    this.#parts.outcomes.status[row] = status;
    if (status === STATUS.rejected) this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
    this.#parts.trace?.refused(this.nowUs, () => requestId(this.#table, row), reason);
    if (countShed) {
      const name = this.#table.sloClasses.name(this.#table.sloClass[row]!) || UNNAMED_CLASS;
      this.shed.set(name, (this.shed.get(name) ?? 0) + 1);
    }
    this.#followUp(row, false, this.nowUs);
  }
}
