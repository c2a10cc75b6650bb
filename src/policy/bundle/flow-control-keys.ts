import { above, flag, type Kind, number, text, whole } from '../../kernel/yaml/schema.js';
import { DISPATCH_ORDERS } from '../queueing/dispatch-orders.js';
import { FAIRNESS_POLICIES } from '../queueing/fairness-policies.js';
import type { FlowControlSettings } from '../queueing/flow-control-settings.js';
import { SATURATION_DETECTORS } from '../queueing/saturation.js';

/** The section `flow_control` as it is written. What is absent was not said. */
export interface FlowControlKeys {
  saturation_detector?: string;
  dispatch_order?: string;
  dispatch_tick_ms?: number;
  queue_depth_threshold?: number;
  kv_cache_util_threshold?: number;
  max_concurrency?: number;
  usage_limit_threshold?: number;
  fairness_policy?: string;
  request_ttl_ms?: number;
  max_queue_depth?: number;
  per_band_capacity?: number;
  queue_shedding?: boolean;
}

/** What a section holds to where it says nothing: fit for live traffic, so the queue always has an end and a wait too. */
export const FLOW_CONTROL_DEFAULTS: Readonly<FlowControlSettings> = {
  saturationDetector: 'concurrency',
  dispatchOrder: 'priority',
  dispatchTickUs: 0,
  queueDepthThreshold: 5,
  kvCacheUtilThreshold: 0.8,
  maxConcurrency: 100,
  usageLimitThreshold: 1,
  fairnessPolicy: 'global-strict',
  requestTtlUs: 30_000_000,
  maxQueueDepth: 1000,
  perBandCapacity: 0,
  queueShedding: false,
  sloTargetsUs: {},
};

const MOST_MS = 86_400_000;
const MOST_WAITING = 1_000_000;
const MOST = 2 ** 31 - 1;
const names = (registry: readonly { name: string }[]) => text(registry.map(({ name }) => name));
const standard = FLOW_CONTROL_DEFAULTS;

export const FLOW_CONTROL_KIND: Extract<Kind, { type: 'keys' }> = {
  type: 'keys',
  title: 'Flow control',
  keys: {
    saturation_detector: {
      kind: names(SATURATION_DETECTORS),
      default: standard.saturationDetector,
      help: 'what counts as full',
    },
    dispatch_order: {
      kind: names(DISPATCH_ORDERS),
      default: standard.dispatchOrder,
      help: 'who leaves the queue first',
    },
    dispatch_tick_ms: {
      kind: number(0, MOST_MS),
      default: '0',
      help: 'between dispatches; 0: whenever a request ends',
    },
    queue_depth_threshold: {
      kind: above(0, MOST),
      default: String(standard.queueDepthThreshold),
      help: 'queued requests of a full replica, for utilization',
    },
    kv_cache_util_threshold: {
      kind: above(0, 1),
      default: String(standard.kvCacheUtilThreshold),
      help: 'KV use of a full replica, for utilization',
    },
    max_concurrency: {
      kind: whole(1, MOST),
      default: String(standard.maxConcurrency),
      help: 'requests in flight of a full replica, for concurrency',
    },
    usage_limit_threshold: {
      kind: number(0, 1),
      default: String(standard.usageLimitThreshold),
      help: 'how full the fleet may be for the lowest priority',
    },
    fairness_policy: {
      kind: names(FAIRNESS_POLICIES),
      default: standard.fairnessPolicy,
      help: 'whose turn it is among tenants of a priority',
    },
    request_ttl_ms: {
      kind: number(0, MOST_MS),
      default: String(standard.requestTtlUs / 1000),
      help: 'longest wait in the queue; 0: no limit',
    },
    max_queue_depth: {
      kind: whole(1, MOST_WAITING),
      default: String(standard.maxQueueDepth),
      help: 'longest queue',
    },
    per_band_capacity: {
      kind: whole(0, MOST_WAITING),
      default: String(standard.perBandCapacity),
      help: 'longest queue of one priority; 0: no limit of its own',
    },
    queue_shedding: {
      kind: flag,
      default: 'false',
      help: 'a full queue drops its least important sheddable request',
    },
  },
};

/** The settings a section stands for, with the targets by class that the section `admission` gives. */
export function flowControlOf(keys: FlowControlKeys, sloTargetsUs: Record<string, number>): FlowControlSettings {
  return {
    saturationDetector: keys.saturation_detector ?? standard.saturationDetector,
    dispatchOrder: keys.dispatch_order ?? standard.dispatchOrder,
    dispatchTickUs: microseconds(keys.dispatch_tick_ms) ?? standard.dispatchTickUs,
    queueDepthThreshold: keys.queue_depth_threshold ?? standard.queueDepthThreshold,
    kvCacheUtilThreshold: keys.kv_cache_util_threshold ?? standard.kvCacheUtilThreshold,
    maxConcurrency: keys.max_concurrency ?? standard.maxConcurrency,
    usageLimitThreshold: keys.usage_limit_threshold ?? standard.usageLimitThreshold,
    fairnessPolicy: keys.fairness_policy ?? standard.fairnessPolicy,
    requestTtlUs: microseconds(keys.request_ttl_ms) ?? standard.requestTtlUs,
    maxQueueDepth: keys.max_queue_depth ?? standard.maxQueueDepth,
    perBandCapacity: keys.per_band_capacity ?? standard.perBandCapacity,
    queueShedding: keys.queue_shedding ?? standard.queueShedding,
    sloTargetsUs,
  };
}

/** A section that stands for these settings; their targets by class stand in the section `admission`. */
export function flowControlKeys(settings: FlowControlSettings): Required<FlowControlKeys> {
  return {
    saturation_detector: settings.saturationDetector,
    dispatch_order: settings.dispatchOrder,
    dispatch_tick_ms: settings.dispatchTickUs / 1000,
    queue_depth_threshold: settings.queueDepthThreshold,
    kv_cache_util_threshold: settings.kvCacheUtilThreshold,
    max_concurrency: settings.maxConcurrency,
    usage_limit_threshold: settings.usageLimitThreshold,
    fairness_policy: settings.fairnessPolicy,
    request_ttl_ms: settings.requestTtlUs / 1000,
    max_queue_depth: settings.maxQueueDepth,
    per_band_capacity: settings.perBandCapacity,
    queue_shedding: settings.queueShedding,
  };
}

/** Whole ones, and at least one of what was not nothing. */
function microseconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.ceil(ms * 1000);
}
