import { dispatchOrder } from './dispatch-orders.js';
import { fairnessPolicy } from './fairness-policies.js';
import type { GatewayQueueOptions } from './gateway-queue.js';
import type { SaturationLimits } from './saturation.js';

/** Settings of the queue between admission and routing: plain data, the same in every world. */
export interface FlowControlSettings {
  saturationDetector: string;
  dispatchOrder: string;
  /** 0: on every completion. */
  dispatchTickUs: number;
  queueDepthThreshold: number;
  kvCacheUtilThreshold: number;
  maxConcurrency: number;
  usageLimitThreshold: number;
  fairnessPolicy: string;
  /** 0 for none. */
  requestTtlUs: number;
  /** 0 for no cap. */
  maxQueueDepth: number;
  perBandCapacity: number;
  queueShedding: boolean;
  /** Class to microseconds, for `slo-deadline` dispatch. */
  sloTargetsUs: Record<string, number>;
}

export function queueOptions(settings: FlowControlSettings): GatewayQueueOptions {
  return {
    dispatchOrder: dispatchOrder(settings.dispatchOrder),
    fairness: fairnessPolicy(settings.fairnessPolicy),
    capacity: settings.maxQueueDepth,
    bandCapacity: settings.perBandCapacity,
    shedding: settings.queueShedding,
    usageLimit: settings.usageLimitThreshold,
  };
}

export function saturationLimits(settings: FlowControlSettings): SaturationLimits {
  return {
    queueDepth: settings.queueDepthThreshold,
    kvUsed: settings.kvCacheUtilThreshold,
    maxConcurrency: settings.maxConcurrency,
  };
}
