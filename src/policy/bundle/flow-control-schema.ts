import * as v from 'valibot';
import { above, choice, field, flag, type Given, number, section, whole } from '../../schema/fields.js';
import { DISPATCH_ORDERS } from '../queueing/dispatch-orders.js';
import { FAIRNESS_POLICIES } from '../queueing/fairness-policies.js';
import type { FlowControlSettings } from '../queueing/flow-control-settings.js';
import { SATURATION_DETECTORS } from '../queueing/saturation.js';

const MOST_MS = 86_400_000;
const MOST_WAITING = 1_000_000;
const MOST = 2 ** 31 - 1;
const names = (registry: readonly { name: string }[]) => choice(registry.map(({ name }) => name));

/**
 * Why some flags of the simulator start from other values than the section of a file, which is meant for live traffic.
 */
const WIDE_OPEN = 'the flags start with a queue without limits, so that an experiment adds one limit at a time';

/**
 * The queue between admission and routing: the section `flow_control` of a file, the flags of the simulator, the API
 * and the documentation. The defaults are fit for live traffic: the queue has an end and so has the wait.
 */
export const FLOW_CONTROL_SCHEMA = section('Flow control', {
  saturation_detector: field(names(SATURATION_DETECTORS), {
    default: 'concurrency',
    help: 'what counts as saturated',
    search: true,
    flag: { default: 'never', why: WIDE_OPEN },
  }),
  dispatch_order: field(names(DISPATCH_ORDERS), {
    default: 'priority',
    help: 'which request leaves the queue first',
    search: true,
  }),
  dispatch_tick_ms: field(number(0, MOST_MS), {
    default: 0,
    help: 'time between dispatches; 0: on each completion',
    flag: { name: 'dispatch-tick-interval', default: 1000, why: 'a tick is in microseconds of simulated time' },
  }),
  queue_depth_threshold: field(above(0, MOST), {
    default: 5,
    help: 'queued requests of a full replica (utilization)',
    search: { from: 1, to: 64, log: true },
  }),
  kv_cache_util_threshold: field(above(0, 1), { default: 0.8, help: 'KV cache use of a full replica (utilization)' }),
  max_concurrency: field(whole(1, MOST), {
    default: 100,
    help: 'requests in flight of a full replica (concurrency)',
    search: { from: 4, to: 512, log: true },
  }),
  usage_limit_threshold: field(number(0, 1), { default: 1, help: 'saturation that stops the lowest priority' }),
  fairness_policy: field(names(FAIRNESS_POLICIES), {
    default: 'global-strict',
    help: 'which tenant is next among those of a priority',
  }),
  request_ttl_ms: field(number(0, MOST_MS), {
    default: 30_000,
    help: 'longest wait in the queue; 0: no limit',
    flag: { name: 'request-ttl', default: 0, why: WIDE_OPEN },
  }),
  max_queue_depth: field(whole(1, MOST_WAITING), {
    default: 1000,
    help: 'longest queue',
    flag: { name: 'max-gateway-queue-depth', default: 0, why: WIDE_OPEN },
  }),
  per_band_capacity: field(whole(0, MOST_WAITING), {
    default: 0,
    help: 'longest queue of one priority; 0: no separate limit',
  }),
  queue_shedding: field(flag, { default: false, help: 'a full queue drops its least important sheddable request' }),
});

/** The section as it is written. */
export type FlowControlKeys = Given<typeof FLOW_CONTROL_SCHEMA>;

/** The settings of a section, with the targets by class of the section `admission`. */
export function flowControlOf(keys: FlowControlKeys, sloTargetsUs: Record<string, number>): FlowControlSettings {
  const filled = v.parse(FLOW_CONTROL_SCHEMA, keys);
  return {
    saturationDetector: filled.saturation_detector,
    dispatchOrder: filled.dispatch_order,
    dispatchTickUs: microseconds(filled.dispatch_tick_ms),
    queueDepthThreshold: filled.queue_depth_threshold,
    kvCacheUtilThreshold: filled.kv_cache_util_threshold,
    maxConcurrency: filled.max_concurrency,
    usageLimitThreshold: filled.usage_limit_threshold,
    fairnessPolicy: filled.fairness_policy,
    requestTtlUs: microseconds(filled.request_ttl_ms),
    maxQueueDepth: filled.max_queue_depth,
    perBandCapacity: filled.per_band_capacity,
    queueShedding: filled.queue_shedding,
    sloTargetsUs,
  };
}

/** The section for these settings; their targets by class are in the section `admission`. */
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

/** Whole microseconds; at least one unless the value is 0. */
function microseconds(ms: number): number {
  return Math.ceil(ms * 1000);
}
