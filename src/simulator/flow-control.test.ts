import { describe, expect, it } from 'vitest';
import type { FakeRequest } from '../replica/fake-replica.fixture.js';
import type { FlowControlConfig } from './cluster-config.js';
import { fakeCluster, fakeFlowControl, simulateFake } from './fake-cluster.fixture.js';

/** One replica behind a gateway queue that dispatches one request at a time, with a tick every 7 us. */
function behindGateway(list: readonly FakeRequest[], changes: Partial<FlowControlConfig> = {}, refreshUs = 0) {
  const config = fakeCluster(
    { instances: 1, flowControl: fakeFlowControl(changes), snapshotRefreshUs: refreshUs },
    { maxNumSeqs: 3 },
  );
  const result = simulateFake(list, config);
  return { ...result, statuses: list.map((_, row) => result.of(row).status) };
}

/** Its prompt runs 0..14; its place is free again when its last step starts, at 14. */
const FIRST: FakeRequest = { input: 4, output: 2 };

describe('a request that finds the fleet full', () => {
  it('waits for the next tick after a place is free', () => {
    const { of } = behindGateway([FIRST, { at: 1, input: 4 }]);
    // Ticks at 7, 14, 21: at 14 the tick comes before the replica's step.
    expect(of(1).scheduling_delay_us).toBe(21 - 1);
    expect([of(0).gateway_wait_us, of(1).gateway_wait_us]).toEqual([0, 21 - 1]);
  });

  it('waits for the end of another when there are no ticks', () => {
    const { of } = behindGateway([FIRST, { at: 1, input: 4 }], { dispatchTickUs: 0 });
    expect(of(1).scheduling_delay_us).toBe(14 - 1);
  });

  it('leaves in its turn: one per tick, however many places are free', () => {
    const { of } = behindGateway([FIRST, FIRST, FIRST, { at: 1, input: 4 }, { at: 1, input: 4 }], {
      maxConcurrency: 3,
    });
    // Three prompts take 0..22, and all three places are free from then on.
    expect([of(3).scheduling_delay_us, of(4).scheduling_delay_us]).toEqual([28 - 1, 35 - 1]);
  });

  it('is dispatched by the arrival of another', () => {
    const { of } = behindGateway([FIRST, { at: 1, input: 4 }, { at: 16, input: 4 }]);
    expect(of(1).scheduling_delay_us).toBe(16 - 1);
  });

  it('pays the routing latency after it has waited', () => {
    const flowControl = fakeFlowControl();
    const list = [FIRST, { at: 5, input: 4 }];
    const { of } = simulateFake(list, fakeCluster({ instances: 1, flowControl, routingLatencyUs: 3 }));
    // The first comes to the replica at 3 and frees its place at 17.
    expect(of(1).scheduling_delay_us).toBe(21 + 3 - 5);
    expect(of(1).gateway_wait_us).toBe(21 - 5);
  });

  it('does not see requests in transit to a replica', () => {
    const flowControl = fakeFlowControl();
    const list = [FIRST, { at: 1, input: 4 }];
    const { of } = simulateFake(list, fakeCluster({ instances: 1, flowControl, routingLatencyUs: 3 }));
    // Both are dispatched; the second reaches the replica at 4, in the first one's prompt step 3..17.
    expect(of(1).scheduling_delay_us).toBe(17 - 1);
  });
});

describe('time to live', () => {
  it('ends the wait of a request, which is counted by SLO class', () => {
    const list = [FIRST, { at: 1, input: 4, slo: 'batch' }];
    const { statuses, document, of } = behindGateway(list, { requestTtlUs: 10 });
    expect(of(1).gateway_wait_us).toBe(10);
    expect(statuses).toEqual(['completed', 'gateway_expired']);
    expect(document.anomalies.shed).toEqual({ batch: 1 });
  });

  it('comes before a tick of the same time', () => {
    expect(behindGateway([FIRST, { at: 1, input: 4 }], { requestTtlUs: 20 }).statuses[1]).toBe('gateway_expired');
    expect(behindGateway([FIRST, { at: 1, input: 4 }], { requestTtlUs: 21 }).statuses[1]).toBe('completed');
  });

  it('does not touch a request that has left the queue', () => {
    const { statuses } = behindGateway([{ input: 4, output: 20 }], { requestTtlUs: 10 });
    expect(statuses).toEqual(['completed']);
  });
});

describe('a full queue', () => {
  it('rejects new requests', () => {
    const { statuses, document } = behindGateway([FIRST, { at: 1, input: 4 }, { at: 2, input: 4 }], {
      maxQueueDepth: 1,
    });
    expect(statuses).toEqual(['completed', 'completed', 'gateway_rejected']);
    expect(document.anomalies.shed).toEqual({});
  });

  it('may be full for one class and open for another', () => {
    const { statuses } = behindGateway(
      [FIRST, { at: 1, input: 4 }, { at: 2, input: 4 }, { at: 3, input: 4, slo: 'critical' }],
      { perBandCapacity: 1 },
    );
    expect(statuses).toEqual(['completed', 'completed', 'gateway_rejected', 'completed']);
  });

  it('gives the place of a sheddable request to a more important one, with shedding', () => {
    const { statuses, document } = behindGateway(
      [FIRST, { at: 1, input: 4, slo: 'batch' }, { at: 2, input: 4, slo: 'critical' }, { at: 3, input: 4 }],
      { maxQueueDepth: 1, queueShedding: true },
    );
    expect(statuses).toEqual(['completed', 'gateway_shed', 'completed', 'gateway_rejected']);
    expect(document.anomalies.shed).toEqual({ batch: 1 });
  });
});

describe('the request that goes first', () => {
  const waiting: FakeRequest[] = [FIRST, { at: 1, input: 4, slo: 'batch' }, { at: 2, input: 4, slo: 'critical' }];

  it('is the more important one', () => {
    const { of } = behindGateway(waiting);
    expect(of(2).scheduling_delay_us).toBe(21 - 2);
    expect(of(1).scheduling_delay_us).toBeGreaterThan(21 - 1);
  });

  it('is the oldest, in order of arrival', () => {
    const { of } = behindGateway(waiting, { dispatchOrder: 'fifo' });
    expect(of(1).scheduling_delay_us).toBe(21 - 1);
  });

  it('is the one with the earliest deadline, by its own target or that of its class; requests without one come last', () => {
    const { of } = behindGateway(
      [
        FIRST,
        { at: 1, input: 4 },
        { at: 2, input: 4, slo: 'gold' },
        { at: 3, input: 4, slo: 'silver' },
        { at: 4, input: 4, slo: 'gold', sloTarget: 50 },
      ],
      { dispatchOrder: 'slo-deadline', sloTargetsUs: { gold: 500, silver: 100 } },
    );
    const startUs = (row: number) => of(row).scheduling_delay_us! + of(row).arrival_us;
    const order = [1, 2, 3, 4].sort((a, b) => startUs(a) - startUs(b));
    expect(order).toEqual([4, 3, 2, 1]);
    expect(new Set(order.map(startUs)).size).toBe(4);
  });
});

describe('ceilings', () => {
  it('hold less important classes back before the fleet is full', () => {
    const { of } = behindGateway(
      [
        { input: 4, output: 50 },
        { at: 1, input: 4, slo: 'batch' },
        { at: 2, input: 4 },
      ],
      { maxConcurrency: 2, usageLimitThreshold: 0.5 },
    );
    // One of two places is taken: that is too full for batch, not for standard.
    expect(of(2).scheduling_delay_us).toBe(14 - 2);
    expect(of(1).scheduling_delay_us).toBeGreaterThan(500);
  });
});

describe('a queue that can never drain', () => {
  it.each([7, 0])('ends the run with its requests in it, ticks every %i us', (dispatchTickUs) => {
    // With a limit of 0 the lowest of two classes is held back even by an empty fleet.
    const { statuses, document } = behindGateway(
      [
        { input: 4, slo: 'critical' },
        { at: 1, input: 4, slo: 'batch' },
      ],
      { usageLimitThreshold: 0, dispatchTickUs },
    );
    expect(statuses).toEqual(['completed', 'gateway_queued']);
    expect(document.cluster.gateway_queued).toBe(1);
  });
});

describe('old signals', () => {
  it('keep the queue shut until they are read again, and then it opens', () => {
    // Signals are read at 100 (nothing yet) and at 200, when one request waits in the replica. They are read again at
    // the first tick from 300 on, although no request has waited there since 229.
    const { of } = behindGateway(
      [
        { at: 100, input: 4, output: 10 },
        { at: 150, input: 4, output: 10 },
        { at: 150, input: 4, output: 10 },
        { at: 150, input: 4, output: 1 },
        { at: 200, input: 4 },
      ],
      { saturationDetector: 'utilization', queueDepthThreshold: 1 },
      100,
    );
    expect(of(4).scheduling_delay_us! + 200).toBe(305);
  });
});
