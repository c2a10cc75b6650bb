import { describe, expect, it } from 'vitest';
import { setSourceId } from '../workload/request-table.js';
import type { SessionDriver } from '../workload/workload.js';
import { fakeCluster, fakeFlowControl, simulateFake } from './fake-cluster.fixture.js';

// A step takes 10 us and 1 us per token: a request of 4 + 1 tokens 14 us, one of 4 + 2 tokens 25 us.

const twins = (count: number, changes: object = {}) => Array.from({ length: count }, () => ({ input: 4, ...changes }));

describe('a client with a cap on requests in flight', () => {
  it('holds a request back until one has ended, and measures from the sending', () => {
    const { of, document } = simulateFake(twins(3), fakeCluster({ instances: 1, maxInFlight: 1 }));
    expect([0, 1, 2].map((row) => of(row).arrival_us)).toEqual([0, 14, 28]);
    expect([0, 1, 2].map((row) => of(row).e2e_us)).toEqual([14, 14, 14]);
    expect([0, 1, 2].map((row) => of(row).client_wait_us)).toEqual([0, 14, 28]);
    expect(document.client).toEqual({
      ...{ max_in_flight: 1, held_requests: 2, wait_mean_ms: 0.014, latencies_from: 'sending' },
      wait_p99_ms: expect.closeTo(0.02772, 9),
    });
  });

  it('sends everything when it is due where the cap is never reached', () => {
    const plain = simulateFake(twins(3), fakeCluster());
    const capped = simulateFake(twins(3), fakeCluster({ maxInFlight: 3 }));
    expect(capped.document.cluster).toEqual(plain.document.cluster);
    expect(plain.document).not.toHaveProperty('client');
    expect(plain.of(0)).not.toHaveProperty('client_wait_us');
    expect(capped.document.client).toMatchObject({ held_requests: 0, wait_mean_ms: 0 });
  });

  it('shares its cap between all replicas', () => {
    const { of } = simulateFake(
      twins(4, { output: 2 }),
      fakeCluster({ maxInFlight: 2, routing: { policy: 'least-loaded', options: {} } }),
    );
    expect([0, 1, 2, 3].map((row) => [of(row).instance, of(row).arrival_us])).toEqual([
      ...[
        ['instance_0', 0],
        ['instance_1', 0],
        ['instance_0', 25],
        ['instance_1', 25],
      ],
    ]);
  });

  it.each([
    ['a refusal at admission', { admission: { policy: 'reject-all', options: {} } }, {}, [0, 0, 0]],
    ['a refusal of the router', {}, { model: 'other' }, [0, 0, 0]],
    ['a request that is too long', {}, { input: 4000 }, [0, 0, 0]],
    ['a time-out, which counts from the sending', {}, { output: 50, deadline: 20 }, [0, 20, 40]],
  ])('gets the slot back after %s', (_, changes, request, sent) => {
    const { of } = simulateFake(twins(3, request), fakeCluster({ instances: 1, maxInFlight: 1, ...changes }));
    expect([0, 1, 2].map((row) => of(row).arrival_us)).toEqual(sent);
  });

  it('gets the slot back from a full gateway queue', () => {
    const flowControl = fakeFlowControl({ maxConcurrency: 1, maxQueueDepth: 1 });
    const list = twins(8, { output: 50 }).map((one, at) => ({ ...one, at }));
    const { document, of } = simulateFake(list, fakeCluster({ instances: 1, maxInFlight: 4, flowControl }));
    expect(document.cluster.gateway_rejected).toBe(6);
    expect(list.map((_, row) => of(row).client_wait_us)).toEqual(Array(8).fill(0));
  });

  it('gives up on a request in the gateway queue when its time is up', () => {
    const flowControl = fakeFlowControl({ maxConcurrency: 1 });
    const list = [
      { input: 4, output: 50 },
      { at: 1, input: 4, deadline: 40 },
      { at: 2, input: 4 },
    ];
    const { of } = simulateFake(list, fakeCluster({ instances: 1, maxInFlight: 2, flowControl }));
    expect([of(1).status, of(1).gateway_wait_us, of(2).arrival_us]).toEqual(['gateway_expired', 39, 40]);
  });

  it('sends a held request before the next turn of the session whose response made room', () => {
    let turns = 0;
    const sessions: SessionDriver = {
      left(table, _, __, atUs) {
        if (turns++ > 0) return -1;
        const next = table.append();
        setSourceId(table, next, next);
        table.arrivalUs[next] = atUs;
        table.inputTokens[next] = 4;
        table.outputTokens[next] = 1;
        return next;
      },
    };
    const { of } = simulateFake(twins(2), fakeCluster({ instances: 1, maxInFlight: 1 }), { sessions });
    expect([of(1).arrival_us, of(2).arrival_us, of(2).client_wait_us]).toEqual([14, 28, 14]);
  });

  it('never sends what is still held at the horizon', () => {
    const { of, document } = simulateFake(twins(3), fakeCluster({ instances: 1, maxInFlight: 1, horizonUs: 20 }));
    expect([0, 1, 2].map((row) => of(row).status)).toEqual(['completed', 'completed', 'not_arrived']);
    expect([document.cluster.not_arrived, document.client!.held_requests]).toEqual([1, 1]);
  });
});
