import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DISPATCH_ORDERS, dispatchOrder } from './dispatch-orders.js';
import { FAIRNESS_POLICIES, fairnessPolicy } from './fairness-policies.js';
import { GatewayQueue, type GatewayQueueOptions, type QueueCandidate } from './gateway-queue.js';
import { NaiveGatewayQueue } from './naive-gateway-queue.fixture.js';

function options(changes: Partial<GatewayQueueOptions> = {}): GatewayQueueOptions {
  return {
    dispatchOrder: dispatchOrder('priority'),
    fairness: fairnessPolicy('global-strict'),
    capacity: 0,
    bandCapacity: 0,
    shedding: false,
    usageLimit: 1,
    ...changes,
  };
}

function candidate(changes: Partial<QueueCandidate> = {}): QueueCandidate {
  return { priority: 3, tenant: '', nowUs: 0, sloTargetUs: 0, ...changes };
}

function waiting(queue: { forEach(visit: (request: number) => void): void }): number[] {
  const out: number[] = [];
  queue.forEach((request) => {
    out.push(request);
  });
  return out;
}

function drain(queue: GatewayQueue, saturation = 0): number[] {
  const out: number[] = [];
  for (let next = queue.dequeue(saturation); next >= 0; next = queue.dequeue(saturation)) out.push(next);
  return out;
}

describe('order', () => {
  it('priority: the most important band first, in order of arrival inside it', () => {
    const queue = new GatewayQueue(options());
    [3, -1, 4, 3, 4].forEach((priority, request) => {
      queue.enqueue(request, candidate({ priority }));
    });
    expect(queue.oldest()).toBe(0);
    expect(waiting(queue)).toEqual([2, 4, 0, 3, 1]);
    expect(drain(queue)).toEqual([2, 4, 0, 3, 1]);
    expect([queue.size, queue.oldest(), queue.dequeue(0)]).toEqual([0, -1, -1]);
  });

  it('fifo: in order of arrival across bands', () => {
    const queue = new GatewayQueue(options({ dispatchOrder: dispatchOrder('fifo') }));
    [3, -1, 4, 3, 4].forEach((priority, request) => {
      queue.enqueue(request, candidate({ priority }));
    });
    expect(drain(queue)).toEqual([0, 1, 2, 3, 4]);
  });

  it('slo-deadline: the earliest deadline of the band; without a target last; the first of equals', () => {
    const queue = new GatewayQueue(options({ dispatchOrder: dispatchOrder('slo-deadline') }));
    queue.enqueue(0, candidate({ nowUs: 0 }));
    queue.enqueue(1, candidate({ nowUs: 0, sloTargetUs: 500 }));
    queue.enqueue(2, candidate({ nowUs: 100, sloTargetUs: 100 }));
    queue.enqueue(3, candidate({ nowUs: 150, sloTargetUs: 50 }));
    queue.enqueue(4, candidate({ nowUs: 150 }));
    queue.enqueue(5, candidate({ priority: -1, sloTargetUs: 1 }));
    expect(drain(queue)).toEqual([2, 3, 1, 0, 4, 5]);
  });
});

describe('fairness', () => {
  it('round-robin: tenants in order of names, cyclically', () => {
    const queue = new GatewayQueue(options({ fairness: fairnessPolicy('round-robin') }));
    ['b', 'b', 'b', 'c', 'a', 'c', 'a'].forEach((tenant, request) => {
      queue.enqueue(request, candidate({ tenant }));
    });
    expect([queue.dequeue(0), queue.dequeue(0), queue.dequeue(0), queue.dequeue(0)]).toEqual([4, 0, 3, 6]);
  });

  it('round-robin: starts at the first name when the tenant served last has nothing waiting', () => {
    const queue = new GatewayQueue(options({ fairness: fairnessPolicy('round-robin') }));
    ['a', 'a', 'b', 'c'].forEach((tenant, request) => {
      queue.enqueue(request, candidate({ tenant }));
    });
    expect(drain(queue)).toEqual([0, 2, 1, 3]);
  });

  it('round-robin: each band has its own turn', () => {
    const queue = new GatewayQueue(options({ fairness: fairnessPolicy('round-robin') }));
    ['a', 'a', 'b', 'b'].forEach((tenant, request) => {
      queue.enqueue(request, candidate({ tenant }));
    });
    expect(queue.dequeue(0)).toBe(0);
    ['a', 'a', 'b', 'b'].forEach((tenant, i) => {
      queue.enqueue(10 + i, candidate({ tenant, priority: 4 }));
    });
    expect([queue.dequeue(0), queue.dequeue(0)]).toEqual([10, 12]);
    queue.remove(11);
    queue.remove(13);
    expect(queue.dequeue(0)).toBe(2);
  });

  it('treats requests without a tenant as those of the tenant called default', () => {
    const queue = new GatewayQueue(options({ fairness: fairnessPolicy('round-robin') }));
    ['', 'default', 'x', ''].forEach((tenant, request) => {
      queue.enqueue(request, candidate({ tenant }));
    });
    expect([queue.dequeue(0), queue.dequeue(0), queue.dequeue(0)]).toEqual([0, 2, 1]);
  });
});

describe('limits', () => {
  it('rejects above the capacity of a band, even if other bands have room', () => {
    const queue = new GatewayQueue(options({ bandCapacity: 1, capacity: 9, shedding: true }));
    expect(queue.enqueue(0, candidate())).toBe('accepted');
    expect(queue.enqueue(1, candidate())).toBe('rejected');
    expect(queue.enqueue(2, candidate({ priority: -1 }))).toBe('accepted');
    expect(waiting(queue)).toEqual([0, 2]);
  });

  it('rejects above the capacity of the queue', () => {
    const queue = new GatewayQueue(options({ capacity: 2 }));
    queue.enqueue(0, candidate({ priority: -3 }));
    queue.enqueue(1, candidate());
    expect(queue.enqueue(2, candidate({ priority: 4 }))).toBe('rejected');
    expect(queue.displaced).toBe(-1);
    expect([queue.has(0), queue.has(2), queue.has(900)]).toEqual([true, false, false]);
  });

  it('sheds the latest of the least important sheddable requests for a more important one', () => {
    const queue = new GatewayQueue(options({ capacity: 4, shedding: true }));
    [-1, -2, -2, 3].forEach((priority, request) => {
      queue.enqueue(request, candidate({ priority }));
    });
    expect(queue.enqueue(4, candidate({ priority: -2 }))).toBe('rejected');
    expect(queue.enqueue(5, candidate({ priority: -1 }))).toBe('displaced');
    expect(queue.displaced).toBe(2);
    expect(queue.enqueue(6, candidate({ priority: 4 }))).toBe('displaced');
    expect(queue.displaced).toBe(1);
    expect(waiting(queue)).toEqual([6, 3, 0, 5]);
  });

  it('never sheds a request that is not sheddable', () => {
    const queue = new GatewayQueue(options({ capacity: 1, shedding: true }));
    queue.enqueue(0, candidate({ priority: 0 }));
    expect(queue.enqueue(1, candidate({ priority: 4 }))).toBe('rejected');
  });
});

describe('ceilings', () => {
  it('dispatches nothing from saturation 1 on', () => {
    const queue = new GatewayQueue(options());
    queue.enqueue(0, candidate());
    expect([queue.dequeue(1), queue.dequeue(2), queue.dequeue(0.999)]).toEqual([-1, -1, 0]);
  });

  it('holds less important bands back earlier, linearly down to the usage limit', () => {
    const queue = new GatewayQueue(options({ usageLimit: 0.8 }));
    [4, 3, -1].forEach((priority, request) => {
      queue.enqueue(request, candidate({ priority }));
    });
    expect(drain(queue, 0.95)).toEqual([0]);
    expect(drain(queue, 0.85)).toEqual([1]);
    expect(drain(queue, 0.8)).toEqual([]);
    expect(drain(queue, 0.79)).toEqual([2]);
  });

  it('counts empty bands, even those that a rejected request opened', () => {
    const queue = new GatewayQueue(options({ usageLimit: 0.8, capacity: 1 }));
    queue.enqueue(0, candidate({ priority: -1 }));
    expect(queue.enqueue(1, candidate({ priority: 3 }))).toBe('rejected');
    expect([queue.dequeue(0.9), queue.dequeue(0.7)]).toEqual([-1, 0]);
  });

  it('fifo: the band of the oldest request decides', () => {
    const queue = new GatewayQueue(options({ dispatchOrder: dispatchOrder('fifo'), usageLimit: 0.5 }));
    queue.enqueue(0, candidate({ priority: -1 }));
    queue.enqueue(1, candidate({ priority: 4 }));
    expect(queue.dequeue(0.7)).toBe(-1);
    expect(queue.dequeue(0.4)).toBe(0);
    expect(queue.dequeue(0.7)).toBe(1);
    expect(queue.dequeue(0)).toBe(-1);
  });
});

describe('removal', () => {
  it('removes a request from the middle, once', () => {
    const queue = new GatewayQueue(options());
    for (const request of [0, 1, 2]) queue.enqueue(request, candidate({ tenant: `t${request % 2}` }));
    expect([queue.remove(1), queue.remove(1), queue.remove(500)]).toEqual([true, false, false]);
    expect(queue.size).toBe(2);
    expect(queue.enqueue(1, candidate())).toBe('accepted');
    expect(drain(queue)).toEqual([0, 2, 1]);
  });
});

describe('any sequence', () => {
  const optionSets = fc.record({
    dispatchOrder: fc.constantFrom(...DISPATCH_ORDERS),
    fairness: fc.constantFrom(...FAIRNESS_POLICIES),
    capacity: fc.constantFrom(0, 1, 4, 8),
    bandCapacity: fc.constantFrom(0, 0, 1, 3),
    shedding: fc.boolean(),
    usageLimit: fc.constantFrom(1, 0.8, 0.25),
  });
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('enqueue' as const),
        priority: fc.integer({ min: -3, max: 4 }),
        tenant: fc.constantFrom('', 'default', 'a', 'b', 'z'),
        sloTargetUs: fc.constantFrom(0, 0, 1, 2, 5),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('dequeue' as const), saturation: fc.constantFrom(0, 0, 0.5, 0.9, 1) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), request: fc.nat({ max: 40 }) }) },
  );

  it('matches a naive implementation', () => {
    fc.assert(
      fc.property(optionSets, fc.array(step, { maxLength: 60 }), (given, steps) => {
        const queue = new GatewayQueue(given);
        const naive = new NaiveGatewayQueue(given);
        steps.forEach((each, request) => {
          if (each.kind === 'enqueue') {
            const fresh = { ...each, nowUs: request };
            expect(queue.enqueue(request, fresh)).toBe(naive.enqueue(request, fresh));
            expect(queue.displaced).toBe(naive.displaced);
          } else if (each.kind === 'dequeue')
            expect(queue.dequeue(each.saturation)).toBe(naive.dequeue(each.saturation));
          else expect(queue.remove(each.request)).toBe(naive.remove(each.request));
          expect(waiting(queue)).toEqual(waiting(naive));
          expect([queue.size, queue.oldest()]).toEqual([naive.entries.length, naive.oldest()]);
        });
      }),
      { numRuns: 500 },
    );
  });
});

describe('registries', () => {
  it('suggest the nearest name', () => {
    expect(() => dispatchOrder('priorty')).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_DISPATCH_ORDER', place: '--dispatch-order' }),
    );
    expect(() => fairnessPolicy('round-robbin', 'x')).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_FAIRNESS_POLICY',
        place: 'x',
        hint: expect.stringContaining("did you mean 'round-robin'?"),
      }),
    );
  });
});

describe('other rules', () => {
  it('hold for waiting requests, and limits only for new ones', () => {
    const queue = new GatewayQueue(options());
    for (let request = 0; request < 4; request++) queue.enqueue(request, candidate({ priority: request % 2 }));
    queue.configure(options({ dispatchOrder: dispatchOrder('fifo'), capacity: 2 }));
    expect([queue.size, queue.enqueue(4, candidate())]).toEqual([4, 'rejected']);
    expect(drain(queue)).toEqual([0, 1, 2, 3]);
  });
});
