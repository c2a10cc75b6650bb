import { describe, expect, it } from 'vitest';
import { FLOW_CONTROL_DEFAULTS } from '../bundle/flow-control-keys.js';
import { queueOptions, saturationLimits } from './flow-control-settings.js';

describe('settings of flow control', () => {
  it('say how the queue and the detectors are to be', () => {
    expect(queueOptions({ ...FLOW_CONTROL_DEFAULTS, usageLimitThreshold: 0.5, queueShedding: true })).toMatchObject({
      dispatchOrder: { name: 'priority' },
      fairness: { name: 'global-strict' },
      capacity: 1000,
      bandCapacity: 0,
      shedding: true,
      usageLimit: 0.5,
    });
    expect(saturationLimits(FLOW_CONTROL_DEFAULTS)).toEqual({ queueDepth: 5, kvUsed: 0.8, maxConcurrency: 100 });
  });
});
