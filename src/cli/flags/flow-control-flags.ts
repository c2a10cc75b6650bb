import { FLOW_CONTROL_SCHEMA } from '../../policy/bundle/flow-control-schema.js';
import type { Schema } from '../../schema/facts.js';
import { whole } from '../../schema/fields.js';
import type { Flag } from './flag.js';
import { fieldFlag, listFlag, MAX_SPAN_US, toggle } from './kinds.js';
import { readClassMicroseconds } from './read-list.js';

const { entries } = FLOW_CONTROL_SCHEMA;
const number = (field: unknown, changes?: Parameters<typeof fieldFlag>[1]) =>
  fieldFlag(field as Schema, changes) as Flag<number>;
const name = (field: unknown) => fieldFlag(field as Schema) as Flag<string>;
/** Simulated time is in whole microseconds. */
const US = { schema: whole(0, MAX_SPAN_US), unit: 'us' } as const;

/** The queue between admission and routing. */
export const flowControlFlags = {
  'flow-control': toggle({ help: 'queue requests before routing while the fleet is saturated' }),
  'saturation-detector': name(entries.saturation_detector),
  'dispatch-order': name(entries.dispatch_order),
  'dispatch-tick-interval': number(entries.dispatch_tick_ms, US),
  'queue-depth-threshold': number(entries.queue_depth_threshold),
  'kv-cache-util-threshold': number(entries.kv_cache_util_threshold),
  'max-concurrency': number(entries.max_concurrency),
  'usage-limit-threshold': number(entries.usage_limit_threshold),
  'fairness-policy': name(entries.fairness_policy),
  'request-ttl': number(entries.request_ttl_ms, US),
  'max-gateway-queue-depth': number(entries.max_queue_depth, { schema: whole(0), help: 'longest queue; 0: no limit' }),
  'per-band-capacity': number(entries.per_band_capacity, { schema: whole(0) }),
  'queue-shedding': fieldFlag(entries.queue_shedding as Schema) as Flag<boolean>,
  'slo-targets': listFlag<Record<string, number>>({
    default: {},
    accepted: "classes with microseconds, as in 'critical=100000,batch=5000000'",
    read: readClassMicroseconds,
    help: 'time to deadline by class, class=us,... (slo-deadline)',
  }),
};

export type FlowControlFlags = typeof flowControlFlags;
