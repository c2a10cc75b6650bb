import { describe, expect, it } from 'vitest';
import { fakeCluster, simulateFake } from './fake-cluster.fixture.js';

const arrivals = (count: number, change: (i: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, i) => ({ at: 10 * i, input: 4, ...change(i) }));
const instancesOf = ({ of }: ReturnType<typeof simulateFake>, count: number) =>
  Array.from({ length: count }, (_, i) => Number(of(i).instance!.slice('instance_'.length)));

describe('several gateways', () => {
  it('take requests in turn, each with a policy of its own', () => {
    const run = simulateFake(arrivals(8), fakeCluster({ instances: 4, gateways: 2 }));
    expect(instancesOf(run, 8)).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
  });

  it('keep a session', () => {
    const requests = arrivals(8, (i) => ({ session: `s${i % 2}` }));
    const run = simulateFake(requests, fakeCluster({ instances: 4, gateways: 2 }));
    expect(instancesOf(run, 8)).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    const one = simulateFake(
      arrivals(8, () => ({ session: 's' })),
      fakeCluster({ instances: 4, gateways: 2 }),
    );
    expect(instancesOf(one, 8)).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
  });

  it('count their own requests, and see those of others in what replicas report', () => {
    const config = { instances: 2, routing: { policy: 'least-loaded', options: {} }, snapshotRefreshUs: 1_000_000 };
    const together = arrivals(8, () => ({ at: 0 }));
    expect(instancesOf(simulateFake(together, fakeCluster(config)), 8)).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
    expect(instancesOf(simulateFake(together, fakeCluster({ ...config, gateways: 4 })), 8)).toEqual([
      0, 0, 0, 0, 1, 1, 1, 1,
    ]);
  });

  it('lose no request, and give the same result twice', () => {
    const config = fakeCluster({ instances: 3, gateways: 5, routing: { policy: 'power-of-two', options: {} } });
    const [first, second] = [simulateFake(arrivals(40), config), simulateFake(arrivals(40), config)];
    expect(first.document.cluster.completed_requests).toBe(40);
    expect(second.document).toEqual(first.document);
  });
});
