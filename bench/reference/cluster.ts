import type { LatencyModel } from '../../src/replica/latency/contract.js';
import type { ClusterConfig } from '../../src/simulator/cluster-config.js';
import type { Workload } from '../../src/workload/workload.js';
import { type Admits, createAdmission, sloPriorities } from './admission.js';
import { ChainTable } from './chain-table.js';
import { EventHeap } from './event-heap.js';
import { Gateway, type GatewayHost } from './gateway.js';
import { type Departure, Instance } from './instance.js';
import { type ReferenceRequest, RequestMaker } from './request.js';
import type { DecisionCounts } from './result.js';
import { createRouter, type ReferenceRouter } from './routing.js';
import { type RouterState, SnapshotBoard } from './snapshots.js';

const ARRIVAL = 0;
const ADMISSION = 1;
const ROUTING = 2;

type Loss = 'rejected' | 'routing_rejected' | 'gateway_rejected' | 'gateway_shed' | 'gateway_expired';

/** The fleet and everything in front of it, advanced one event at a time. */
export class Cluster implements GatewayHost {
  clockUs = 0;
  readonly requests: ReferenceRequest[] = [];
  readonly instances: Instance[] = [];
  readonly decisions: DecisionCounts;
  readonly #events = new EventHeap();
  readonly #horizonUs: number;
  readonly #maker: RequestMaker;
  readonly #board: SnapshotBoard;
  readonly #tenantInFlight = new Map<string, number>();
  readonly #admits: Admits;
  readonly #router: ReferenceRouter;
  readonly #gateway: Gateway | null;

  constructor(
    readonly config: ClusterConfig,
    readonly workload: Workload,
    latency: LatencyModel,
  ) {
    const { replica } = config;
    const chains = new ChainTable();
    const priorities = sloPriorities(config.sloPriorities);
    this.#horizonUs = config.horizonUs ?? Number.POSITIVE_INFINITY;
    for (let index = 0; index < config.instances; index++) {
      this.instances.push(new Instance(index, replica, latency, this.#horizonUs, priorities.urgency, chains));
    }
    const targets = this.instances.map(() => 0);
    this.decisions = { admitted: 0, rejected: 0, targets, regrets: [], shedByClass: new Map() };
    this.#maker = new RequestMaker(workload.table, chains, replica.blockSize, priorities.of);
    this.#board = new SnapshotBoard(this.instances, config.snapshotRefreshUs, config.cacheSignalDelayUs);
    this.#admits = createAdmission(config, this.#tenantInFlight);
    this.#router = createRouter(config.routing);
    this.#gateway = config.flowControl === null ? null : new Gateway(config.flowControl, this);
    const known = workload.table.count;
    for (let row = 0; row < known; row++) this.#expect(row);
  }

  /** Runs the next event of the whole simulation; false when there is none within the horizon. */
  advance(): boolean {
    let next: Instance | undefined;
    for (const instance of this.instances) {
      const earlier = (next?.events.nextTimeUs ?? Number.POSITIVE_INFINITY) - instance.events.nextTimeUs;
      if (earlier > 0 || (earlier === 0 && instance.reportsNext && !next!.reportsNext)) next = instance;
    }
    const instanceTimeUs = next?.events.nextTimeUs ?? Number.POSITIVE_INFINITY;
    const timeUs = Math.min(this.#events.nextTimeUs, instanceTimeUs);
    if (timeUs === Number.POSITIVE_INFINITY) return this.#letOneOutAtRest();
    if (timeUs > this.#horizonUs) return false;
    const beforeUs = this.clockUs;
    this.clockUs = timeUs;
    const clusterFirst = this.#events.nextTimeUs - instanceTimeUs;
    if (clusterFirst < 0 || (clusterFirst === 0 && !next!.reportsNext)) {
      this.#events.pop().run();
      return true;
    }
    const departures = next!.processOne();
    // The deadline of a request that has left is thrown away: it moved the instance's clock as little as this one.
    if (next!.clockUs < timeUs) this.clockUs = beforeUs;
    this.#departed(departures);
    return true;
  }

  /** Nothing happens any more, but old signals may still say otherwise: then once more when they are due to be new. */
  #letOneOutAtRest(): boolean {
    if (this.#gateway === null) return false;
    if (this.#gateway.atRest()) return true;
    this.clockUs += this.config.snapshotRefreshUs;
    return this.config.snapshotRefreshUs > 0 && this.clockUs <= this.#horizonUs && this.#gateway.atRest();
  }

  schedule(atUs: number, priority: number, run: () => void): void {
    this.#events.push(atUs, priority, run);
  }

  look(model: string): RouterState {
    return this.#board.look(this.clockUs, model);
  }

  dispatch(request: ReferenceRequest): void {
    request.status = 'in_pipeline';
    this.schedule(this.clockUs + this.config.routingLatencyUs, ROUTING, () => this.#route(request));
  }

  lose(request: ReferenceRequest, status: Loss): void {
    request.status = status;
    if (status === 'rejected' || status === 'gateway_shed' || status === 'gateway_expired') {
      const { shedByClass } = this.decisions;
      const sloClass = request.sloClass || 'standard';
      shedByClass.set(sloClass, (shedByClass.get(sloClass) ?? 0) + 1);
    }
    this.#tellSessions(request, false, this.clockUs);
  }

  isAtRest(): boolean {
    const idle = this.#events.size === 0 && this.instances.every((instance) => instance.events.size === 0);
    return idle && this.#board.isUpToDate();
  }

  #expect(row: number): void {
    const request = this.#maker.make(row);
    this.requests.push(request);
    this.schedule(request.arrivalUs, ARRIVAL, () => {
      request.status = 'in_pipeline';
      this.schedule(this.clockUs + this.config.admissionLatencyUs, ADMISSION, () => this.#admit(request));
    });
  }

  #admit(request: ReferenceRequest): void {
    if (!this.#admits(request, this.look(request.model))) {
      this.decisions.rejected += 1;
      this.lose(request, 'rejected');
      return;
    }
    this.decisions.admitted += 1;
    if (this.#gateway === null) this.dispatch(request);
    else this.#gateway.arrive(request);
  }

  #route(request: ReferenceRequest): void {
    const state = this.look(request.model);
    if (state.candidates.length === 0) {
      this.lose(request, 'routing_rejected');
      return;
    }
    const { target, regret } = this.#router.decide(request, state);
    this.decisions.targets[target]! += 1;
    this.decisions.regrets.push(regret);
    this.#board.inFlight[target]! += 1;
    this.#countTenant(request, 1);
    request.instance = target;
    this.instances[target]!.inject(request, this.clockUs);
  }

  /** All departures of one event are counted before any handler reacts to them. */
  #departed(departures: readonly Departure[]): void {
    for (const { request } of departures) {
      this.#board.inFlight[request.instance!]! -= 1;
      this.#countTenant(request, -1);
    }
    for (const { request, completed, atUs } of departures) this.#tellSessions(request, completed, atUs);
    for (const _ of departures) this.#gateway?.departed();
  }

  #countTenant(request: ReferenceRequest, change: number): void {
    this.#tenantInFlight.set(request.tenant, (this.#tenantInFlight.get(request.tenant) ?? 0) + change);
  }

  #tellSessions(request: ReferenceRequest, completed: boolean, atUs: number): void {
    const row = this.workload.sessions?.left(this.workload.table, request.row, completed, atUs, this.#horizonUs) ?? -1;
    if (row >= 0) this.#expect(row);
  }
}
