import { describe, expect, it } from 'vitest';
import { fakeConfig, fakeLatency } from '../../replica/fake-replica.fixture.js';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import { fakeCluster, simulateFake } from '../fake-cluster.fixture.js';
import { fleetReplicas, fleetSeats } from './fleet-replicas.js';

/** Two replicas by the fake latency model, and one by a profile, which is a hundred times as slow. */
const slow = { ...fakeConfig(), tp: 2, maxNumSeqs: 7, latencyModel: 'profile', latencyProfile: fakeProfile() };
const kinds = [
  { count: 2, replica: fakeConfig() },
  { count: 1, replica: slow },
];
const config = fakeCluster({ instances: 3, fleet: kinds, slowFactors: [1, 3] });

describe('a fleet of several kinds', () => {
  it('has the settings and the step times of each, and the slow factors on top', () => {
    const latency = fakeLatency();
    const fleet = fleetReplicas(config, latency);
    expect(fleet.map((one) => [one.config.maxNumSeqs, one.factor])).toEqual([
      [fakeConfig().maxNumSeqs, 1],
      [fakeConfig().maxNumSeqs, 3],
      [7, 1],
    ]);
    expect(fleet.map((one) => one.latency === latency)).toEqual([true, true, false]);
    expect(fleet[2]!.latency.queueingUs).toBe(100);
    expect(fleetSeats(config)).toBe(2 * fakeConfig().maxNumSeqs + 7);
  });

  it('is simulated: a policy that predicts leaves the slow one alone, one that does not pays for it', () => {
    const requests = Array.from({ length: 60 }, (_, i) => ({ at: 50 * i, input: 20, output: 3 }));
    const served = (policy: string) => {
      const fleet = { ...config, slowFactors: [], routing: { policy, options: {} } };
      const { cluster, instances } = simulateFake(requests, fleet, {}).document;
      return { e2e: cluster.e2e_mean_ms, onSlow: instances[2]!.completed_requests };
    };
    const [plain, predicted] = [served('round-robin'), served('predicted-latency')];
    expect([plain.onSlow, predicted.onSlow]).toEqual([20, 0]);
    expect(predicted.e2e).toBeLessThan(plain.e2e / 10);
  });
});
