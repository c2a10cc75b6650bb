import { describe, expect, it } from 'vitest';
import { REPLICA, trafficTable } from '../src/twin/whatif/recorded-run.fixture.js';
import { recordingFiles } from '../src/twin/whatif/recording-files.fixture.js';
import { whatIf } from '../src/twin/whatif/whatif.js';
import { recordedWorld } from './support/recorded-world.js';

const file = recordingFiles();

describe('what-if on traffic that a gateway served by round-robin', () => {
  it.each([3, 4])('predicts lmetric, and one replica less, within the intervals (traffic %i)', async (seed) => {
    const traffic = { seed, requests: 400, rate: 25 };
    const { lines, measured } = await recordedWorld(trafficTable(traffic), { policy: 'round-robin' });
    const { alternatives, baseline } = await whatIf({
      recording: file(`traffic-${seed}.jsonl`, lines),
      replica: REPLICA,
      gateway: { signalsUs: 1_000_000, blockSize: 16 },
      alternatives: [
        { routing: { policy: 'lmetric', options: {} } },
        { routing: { policy: 'round-robin', options: {} }, replicas: 3 },
      ],
      runs: 7,
    });
    expect(baseline.metrics[0]).toMatchObject({ metric: 'ttft_mean_ms', measured: measured.ttft_mean_ms });
    const truths = [
      await recordedWorld(trafficTable(traffic), { policy: 'lmetric', seed: 9 }),
      await recordedWorld(trafficTable(traffic), { policy: 'round-robin', replicas: 3 }),
    ];
    for (const [i, { metrics, name }] of alternatives.entries()) {
      for (const { high, low, metric } of metrics) {
        if (!['ttft_mean_ms', 'ttft_p90_ms', 'e2e_mean_ms', 'cached_share'].includes(metric)) continue;
        const was = truths[i]!.measured[metric];
        expect([name, metric, was >= low && was <= high ? 'inside' : [low, was, high]]).toEqual([
          name,
          metric,
          'inside',
        ]);
      }
    }
  });
});
