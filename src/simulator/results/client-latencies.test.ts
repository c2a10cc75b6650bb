import { describe, expect, it } from 'vitest';
import { clientLatencies } from './client-latencies.js';
import { fakeOutcomes } from './fake-outcomes.fixture.js';

describe('clientLatencies', () => {
  const list = [{ input: 1000, ttft: 10_000, e2e: 100_000, tokens: 500 }, { input: 1000, ttft: 20_000 }, { input: 9 }];

  it('does not exist while no client is away from the cluster', () => {
    const { table, outcomes } = fakeOutcomes(list);
    expect(clientLatencies(table, outcomes)).toBeUndefined();
  });

  it('adds the way there and back, and what the texts take on it', () => {
    const { table, outcomes } = fakeOutcomes(list);
    const away = table.clients.index('away');
    table.client.fill(away);
    table.networks[away] = { rttUs: 5000, bandwidthMbps: 32 };
    // A token takes a microsecond at this bandwidth: 1,000 up, 500 down.
    expect(clientLatencies(table, outcomes)).toMatchObject({
      client_ttft_min_ms: 16,
      client_ttft_max_ms: 26,
      client_e2e_mean_ms: 106.5,
    });
  });

  it('adds nothing for clients next to the cluster, and no transfer time without a bandwidth', () => {
    const { table, outcomes } = fakeOutcomes(list);
    const away = table.clients.index('away');
    table.client[1] = away;
    table.networks[away] = { rttUs: 5000, bandwidthMbps: 0 };
    expect(clientLatencies(table, outcomes)).toMatchObject({ client_ttft_min_ms: 10, client_ttft_max_ms: 25 });
  });
});
