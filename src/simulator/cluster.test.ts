import { describe, expect, it } from 'vitest';
import { type RequestTable, setSourceId } from '../workload/request-table.js';
import type { SessionDriver } from '../workload/workload.js';
import { fakeCluster, simulateFake } from './fake-cluster.fixture.js';

// A step takes 10 us and 1 us per token.

describe('a request', () => {
  it('passes admission and routing, each with its latency', () => {
    const { of } = simulateFake([{ at: 100, input: 4 }], fakeCluster({ admissionLatencyUs: 30, routingLatencyUs: 20 }));
    expect(of(0)).toMatchObject({ instance: 'instance_0', scheduling_delay_us: 50, ttft_us: 64 });
  });

  it('follows arrival times, not the order of the table', () => {
    const { of, requests } = simulateFake(
      [
        { at: 50, input: 4 },
        { at: 10, input: 4 },
      ],
      fakeCluster(),
    );
    expect([of(0).instance, of(1).instance]).toEqual(['instance_1', 'instance_0']);
    expect(requests().map((one) => one.request_id)).toEqual(['request_1', 'request_0']);
  });

  it('ends at admission when the policy refuses', () => {
    const { of, document } = simulateFake(
      [{ input: 4 }, { input: 4, slo: 'batch' }],
      fakeCluster({ admission: { policy: 'reject-all', options: {} } }),
    );
    expect(of(0)).toMatchObject({ status: 'rejected', instance: null, ttft_us: null });
    expect(document.anomalies.shed).toEqual({ batch: 1, standard: 1 });
    expect(Object.values(document.anomalies.rejections)).toEqual([2]);
  });

  it('ends at routing when no replica serves its model; names must agree to the letter', () => {
    const { of, document } = simulateFake(
      [
        { input: 4, model: 'tiny' },
        { input: 4, model: 'Toy' },
      ],
      fakeCluster(),
    );
    expect([of(0).status, of(1).status]).toEqual(['completed', 'routing_rejected']);
    expect([document.cluster.routing_rejected, document.anomalies.shed]).toEqual([1, {}]);
  });
});

describe('at the same microsecond', () => {
  it('all requests are admitted before any is routed', () => {
    const sheddable = { input: 4, output: 9, slo: 'sheddable' };
    const { of } = simulateFake(
      [sheddable, sheddable, sheddable, { ...sheddable, at: 1 }],
      fakeCluster({ instances: 1, admission: { policy: 'tier-shed', options: { threshold: 0 } } }),
    );
    // Nothing is in flight while the first three are admitted.
    expect([0, 1, 2, 3].map((row) => of(row).status)).toEqual(['completed', 'completed', 'completed', 'rejected']);
  });

  it('each routing sees the one before', () => {
    const { of } = simulateFake(
      Array.from({ length: 4 }, () => ({ input: 4 })),
      fakeCluster({ routing: { policy: 'least-loaded', options: {} } }),
    );
    expect([0, 1, 2, 3].map((row) => of(row).instance)).toEqual([
      'instance_0',
      'instance_1',
      'instance_0',
      'instance_1',
    ]);
  });

  it.each([
    [14, 'instance_1'],
    [15, 'instance_0'],
  ])('the router decides before replicas move: an arrival at %i goes to %s', (at, instance) => {
    // The first request frees its place when its last step starts, at 14.
    const { of } = simulateFake(
      [
        { input: 4, output: 2 },
        { at, input: 4 },
      ],
      fakeCluster({ routing: { policy: 'least-loaded', options: {} } }),
    );
    expect(of(1).instance).toBe(instance);
  });
});

/** Makes one more turn after each of the first `turns` that end, `pauseUs` later; records its calls. */
function sessionOf(turns: number, pauseUs: number) {
  const calls: { row: number; completed: boolean; atUs: number; horizonUs: number }[] = [];
  const driver: SessionDriver = {
    left(table: RequestTable, row, completed, atUs, horizonUs) {
      calls.push({ row, completed, atUs, horizonUs });
      if (calls.length > turns) return -1;
      const next = table.append();
      setSourceId(table, next, next);
      table.arrivalUs[next] = atUs + pauseUs;
      table.inputTokens[next] = 4;
      table.outputTokens[next] = 1;
      return next;
    },
  };
  return { driver, calls };
}

describe('sessions', () => {
  it('continue when a turn has completed', () => {
    const { driver, calls } = sessionOf(2, 10);
    const { of, document } = simulateFake([{ input: 4, output: 2 }], fakeCluster({ instances: 1 }), {
      sessions: driver,
    });
    // Ends at 25; the next turn comes at 35 and takes 14, the last one comes at 59.
    expect([of(1).arrival_us, of(1).e2e_us, of(2).arrival_us]).toEqual([35, 14, 59]);
    expect(calls.map(({ atUs }) => atUs)).toEqual([25, 49, 73]);
    expect(document.cluster).toMatchObject({ generated_requests: 3, completed_requests: 3 });
  });

  it('are notified of lost requests, wherever they were lost', () => {
    const { driver, calls } = sessionOf(0, 0);
    simulateFake(
      [
        { at: 1, input: 4, model: 'other' },
        { at: 2, input: 4000 },
        { at: 3, input: 4, output: 50, deadline: 20 },
      ],
      fakeCluster({ instances: 1 }),
      { sessions: driver },
    );
    expect(calls.map(({ row, completed, atUs }) => [row, completed, atUs])).toEqual([
      [0, false, 1],
      [1, false, 2],
      [2, false, 20],
    ]);
  });

  it('know the horizon', () => {
    const { driver, calls } = sessionOf(0, 0);
    simulateFake([{ input: 4 }], fakeCluster({ horizonUs: 1234 }), { sessions: driver });
    expect(calls[0]!.horizonUs).toBe(1234);
  });

  it('add later turns after requests that arrive at the same time', () => {
    const { driver } = sessionOf(1, 11);
    // The session's second turn and a known request both arrive at 25.
    const { of } = simulateFake([{ input: 4 }, { at: 25, input: 4 }], fakeCluster({ instances: 2 }), {
      sessions: driver,
    });
    expect(of(2).arrival_us).toBe(25);
    expect([of(1).instance, of(2).instance]).toEqual(['instance_1', 'instance_0']);
  });

  it('are notified of simultaneous events in the order of the replicas', () => {
    const { driver, calls } = sessionOf(0, 0);
    const short = { input: 4, output: 1 };
    // The first goes to replica 0 and is gone; the next two go to replicas 1 and 0 together.
    simulateFake([short, { at: 100, ...short }, { at: 100, ...short }], fakeCluster(), { sessions: driver });
    expect(calls.map(({ row }) => row)).toEqual([0, 2, 1]);
  });
});

describe('the horizon', () => {
  it('lets replicas run up to it when the next arrival comes after it', () => {
    const { of, document } = simulateFake(
      [
        { input: 4, output: 2 },
        { at: 100, input: 4 },
      ],
      fakeCluster({ instances: 1, horizonUs: 50 }),
    );
    expect(of(0)).toMatchObject({ status: 'completed', e2e_us: 25 });
    expect(document.cluster).toMatchObject({ completed_requests: 1, not_arrived: 1, duration_s: 25e-6 });
  });

  it('leaves requests in the pipeline whose admission, routing or queueing would come after it', () => {
    const at40 = [{ at: 40, input: 4 }];
    const inPipeline = (changes: Parameters<typeof fakeCluster>[0], queueingUs = 0) =>
      simulateFake(at40, fakeCluster({ horizonUs: 50, ...changes }), { latency: { queueingUs } }).document.cluster
        .in_pipeline;
    expect(inPipeline({ admissionLatencyUs: 11 })).toBe(1);
    expect(inPipeline({ routingLatencyUs: 11 })).toBe(1);
    expect(inPipeline({}, 11)).toBe(1);
    expect(inPipeline({ admissionLatencyUs: 5, routingLatencyUs: 5 })).toBe(0);
  });

  it('counts what is still queued and running', () => {
    const { document } = simulateFake(
      [
        { input: 4, output: 90 },
        { input: 4, output: 90 },
      ],
      fakeCluster({ instances: 1, horizonUs: 100 }, { maxNumSeqs: 1 }),
    );
    expect(document.cluster).toMatchObject({ still_running: 1, still_queued: 1, injected_requests: 2 });
  });
});

describe('tenant budgets', () => {
  it('hold back sheddable requests while the tenant has too much in flight, and only then', () => {
    const greedy = { input: 4, output: 2, tenant: 't', slo: 'sheddable' };
    const { of } = simulateFake(
      [greedy, { ...greedy, at: 5 }, { ...greedy, at: 5, slo: 'critical' }, { ...greedy, at: 1000 }],
      fakeCluster({ tenantBudgets: { t: 0 } }),
    );
    expect([0, 1, 2, 3].map((row) => of(row).status)).toEqual(['completed', 'rejected', 'completed', 'completed']);
  });
});

describe('signals that a clock reads', () => {
  const places = (changes: Parameters<typeof fakeCluster>[0], sessions = false) => {
    const list = [0, 60, 130].map((at) => ({ at, input: 4, output: 40 }));
    const config = {
      routing: { policy: 'vllm-least', options: { tie_break: 'first' } },
      snapshotRefreshUs: 100,
      ...changes,
    };
    const driver = sessions ? { sessions: { left: () => -1 } } : {};
    return simulateFake(list, fakeCluster(config), driver)
      .requests()
      .map(({ instance }) => instance);
  };

  it('are as old as its last tick, and not read by decisions', () => {
    expect(places({})).toEqual(['instance_0', 'instance_0', 'instance_1']);
    // Read at 50 and 150: the second finds one request at the first replica, and so does the third.
    expect(places({ signalPhaseUs: 50 })).toEqual(['instance_0', 'instance_1', 'instance_1']);
    expect(places({ signalPhaseUs: 50 }, true)).toEqual(['instance_0', 'instance_1', 'instance_1']);
  });
});

describe('a long run', () => {
  it('gives the same results whether a policy looks at the fleet or not', () => {
    const list = Array.from({ length: 5000 }, (_, i) => ({ at: i * 5, input: 1 + (i % 9), output: 1 + (i % 4) }));
    const arrived: number[] = [];
    const plain = simulateFake(list, fakeCluster(), { watch: { progress: (count) => arrived.push(count) } });
    const watched = simulateFake(list, fakeCluster({ traceLevel: 'decisions' }));
    expect(plain.requests()).toEqual(watched.requests());
    expect(plain.document.cluster).toEqual(watched.document.cluster);
    expect(arrived).toEqual([1024, 2048, 3072, 4096]);
  });
});
