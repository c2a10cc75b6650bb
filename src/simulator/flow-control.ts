import { queueOptions, saturationLimits } from '../policy/queueing/flow-control-settings.js';
import { GatewayQueue, type QueueCandidate } from '../policy/queueing/gateway-queue.js';
import { type SaturationDetector, type SaturationLimits, saturationDetector } from '../policy/queueing/saturation.js';
import type { RequestTable } from '../workload/request-table.js';
import type { FlowControlConfig } from './cluster-config.js';
import type { Router } from './router.js';

/** The gateway queue in virtual time: what it holds, and whether somebody may leave it now. */
export class FlowControl {
  readonly detector: SaturationDetector;
  readonly #queue: GatewayQueue;
  readonly #limits: SaturationLimits;
  readonly #classTargetsUs: Record<string, number>;
  readonly #table: RequestTable;
  readonly #candidate: QueueCandidate = { priority: 0, tenant: '', nowUs: 0, sloTargetUs: 0 };

  constructor(config: FlowControlConfig, table: RequestTable) {
    this.detector = saturationDetector(config.saturationDetector);
    this.#limits = saturationLimits(config);
    this.#queue = new GatewayQueue(queueOptions(config));
    this.#classTargetsUs = config.sloTargetsUs;
    this.#table = table;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Whether the request got a place; `displaced` tells who lost one to it. */
  enqueue(row: number, router: Router): boolean {
    const { features } = router;
    const candidate = this.#candidate;
    const own = this.#table.sloTargetUs[row]!;
    candidate.priority = features.priority;
    candidate.tenant = this.#table.tenants.name(this.#table.tenant[row]!);
    candidate.nowUs = features.nowUs;
    candidate.sloTargetUs = own > 0 ? own : (this.#classTargetsUs[features.sloClass] ?? 0);
    return this.#queue.enqueue(row, candidate) !== 'rejected';
  }

  /** The request that lost its place in the last `enqueue`, or -1. */
  get displaced(): number {
    return this.#queue.displaced;
  }

  /** The request that may go now, by a fresh look at the fleet; -1 when none may. */
  dispatch(router: Router, nowUs: number): number {
    router.lookAtFleet(nowUs);
    return this.#queue.dequeue(this.detector.measure(router.signals.view, this.#limits));
  }

  /** Takes out a request whose time is up; whether it was still waiting. */
  expire(row: number): boolean {
    return this.#queue.remove(row);
  }
}
