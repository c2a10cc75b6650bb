import { count, fraction, list, microseconds, positive, registered, toggle } from './kinds.js';
import { readClassMicroseconds } from './read-list.js';
import { dispatchOrderNames, fairnessPolicyNames, saturationDetectorNames } from './registered-names.js';

/** The queue between admission and routing. */
export const flowControlFlags = {
  'flow-control': toggle({ help: 'hold requests in a queue before routing while the fleet is saturated' }),
  'saturation-detector': registered({
    default: 'never',
    names: saturationDetectorNames,
    help: 'what counts as saturated',
  }),
  'dispatch-order': registered({
    default: 'priority',
    names: dispatchOrderNames,
    help: 'who leaves the queue first',
  }),
  'dispatch-tick-interval': microseconds({ default: 1000, help: 'time between dispatches; 0: on each completion' }),
  'queue-depth-threshold': positive({ default: 5, help: 'queued requests of a full replica (utilization)' }),
  'kv-cache-util-threshold': fraction({ default: 0.8, help: 'KV use of a full replica (utilization)' }),
  'max-concurrency': count({ default: 100, min: 1, help: 'requests in flight of a full replica (concurrency)' }),
  'usage-limit-threshold': fraction({ default: 1, zero: true, help: 'saturation that stops the lowest priority' }),
  'fairness-policy': registered({
    default: 'global-strict',
    names: fairnessPolicyNames,
    help: 'whose turn it is among tenants of a priority',
  }),
  'request-ttl': microseconds({ default: 0, help: 'longest wait in the queue; 0: no limit' }),
  'max-gateway-queue-depth': count({ default: 0, help: 'longest queue; 0: no limit' }),
  'per-band-capacity': count({ default: 0, help: 'longest queue of one priority; 0: no limit' }),
  'queue-shedding': toggle({ help: 'a full queue drops its least important sheddable request' }),
  'slo-targets': list<Record<string, number>>({
    default: {},
    accepted: "classes with microseconds, as in 'critical=100000,batch=5000000'",
    read: readClassMicroseconds,
    help: 'time to deadline by class, class=us,... (slo-deadline)',
  }),
};

export type FlowControlFlags = typeof flowControlFlags;
