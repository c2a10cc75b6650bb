import { describe, expect, it } from 'vitest';
import { flowControlOf } from '../bundle/flow-control-schema.js';
import { queueOptions, saturationLimits } from './flow-control-settings.js';

describe('settings of flow control', () => {
  it('become the options of the queue and the limits of the detectors', () => {
    expect(queueOptions({ ...flowControlOf({}, {}), usageLimitThreshold: 0.5, queueShedding: true })).toMatchObject({
      dispatchOrder: { name: 'priority' },
      fairness: { name: 'global-strict' },
      capacity: 1000,
      bandCapacity: 0,
      shedding: true,
      usageLimit: 0.5,
    });
    expect(saturationLimits(flowControlOf({}, {}))).toEqual({ queueDepth: 5, kvUsed: 0.8, maxConcurrency: 100 });
  });
});
