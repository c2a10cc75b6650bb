import { describe, expect, it } from 'vitest';
import { FLOW_CONTROL_SCHEMA, flowControlOf } from './flow-control-schema.js';

describe('flowControlOf', () => {
  it('always limits the queue and the wait', () => {
    expect(flowControlOf({}, {}).maxQueueDepth).toBeGreaterThan(0);
    expect(flowControlOf({}, {}).requestTtlUs).toBeGreaterThan(0);
  });

  it('reads every key of the table', () => {
    const keys = {
      saturation_detector: 'utilization',
      dispatch_order: 'slo-deadline',
      dispatch_tick_ms: 0.5,
      queue_depth_threshold: 6,
      kv_cache_util_threshold: 0.7,
      max_concurrency: 8,
      usage_limit_threshold: 0.9,
      fairness_policy: 'round-robin',
      request_ttl_ms: 0,
      max_queue_depth: 10,
      per_band_capacity: 11,
      queue_shedding: true,
    };
    expect(Object.keys(keys)).toEqual(Object.keys(FLOW_CONTROL_SCHEMA.entries));
    expect(flowControlOf(keys, { gold: 5 })).toEqual({
      saturationDetector: 'utilization',
      dispatchOrder: 'slo-deadline',
      dispatchTickUs: 500,
      queueDepthThreshold: 6,
      kvCacheUtilThreshold: 0.7,
      maxConcurrency: 8,
      usageLimitThreshold: 0.9,
      fairnessPolicy: 'round-robin',
      requestTtlUs: 0,
      maxQueueDepth: 10,
      perBandCapacity: 11,
      queueShedding: true,
      sloTargetsUs: { gold: 5 },
    });
  });
});
