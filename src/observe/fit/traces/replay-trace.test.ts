import { describe, expect, it } from 'vitest';
import { fakeConfig, fakeLatency, fakeTable } from '../../../replica/fake-replica.fixture.js';
import type { LatencyModel } from '../../../replica/latency/contract.js';
import { engineLatency, profileLatency } from '../../../replica/latency/profile-latency.js';
import { fakeCluster, simulateFake } from '../../../simulator/fake-cluster.fixture.js';
import { RequestTable } from '../../../workload/request-table.js';
import { ENGINE, PLANTED } from '../planted.fixture.js';
import type { ObservedTrace } from './observed-trace.js';
import { replayTrace } from './replay-trace.js';

/** Every step takes 100 us. */
const latency: LatencyModel = { queueingUs: 0, outputTokenUs: 0, postDecodeUs: 0, stepUs: () => 100 };

function traceOf(arrivals: readonly number[], maxInFlight = Number.POSITIVE_INFINITY): ObservedTrace {
  const table = new RequestTable(4);
  for (const us of arrivals) {
    const row = table.append();
    table.arrivalUs[row] = us;
    table.inputTokens[row] = 32;
    table.outputTokens[row] = 3;
    table.prefixGroup[row] = table.prefixGroups.index('same');
    table.prefixTokens[table.prefixGroup[row]!] = 32;
  }
  const none = new Float64Array(arrivals.length).fill(Number.NaN);
  return { name: 't', table, ttftUs: none, e2eUs: none, warmUp: 0, maxInFlight, engine: ENGINE };
}

describe('a replayed trace', () => {
  it('has latencies from the recorded arrivals on, and what was cached', () => {
    const { ttftUs, e2eUs, cachedTokens, preemptions } = replayTrace(traceOf([0, 1000]), latency);
    expect([...ttftUs, ...e2eUs]).toEqual([100, 100, 300, 300]);
    expect([[...cachedTokens], preemptions]).toEqual([[0, 16], 0]);
  });

  it('may be the beginning of a trace only', () => {
    const { e2eUs } = replayTrace(traceOf([0, 50]), latency, 1);
    expect([...e2eUs]).toEqual([300, Number.NaN]);
  });

  it('delays requests as the client would have, and measures from then on', () => {
    // All at once, two in progress: the third is sent when the first two end at 300, the fifth at 600.
    const { ttftUs, e2eUs } = replayTrace(traceOf([0, 0, 0, 0, 10], 2), latency);
    expect([...ttftUs]).toEqual([100, 100, 100, 100, 100]);
    expect([...e2eUs]).toEqual([300, 300, 300, 300, 300]);
    expect([...replayTrace(traceOf([0, 0, 0, 0, 10]), latency).ttftUs]).toEqual([100, 100, 100, 100, 190]);
  });

  it.each(['classic', 'vllm-v1', 'vllm-v1-async'])(
    'has the latencies of a simulation with the same cap and %s rules',
    (rules) => {
      const list = Array.from({ length: 40 }, (_, i) => ({ at: 3 * i, input: 4 + (i % 5), output: 1 + (i % 7) }));
      const config = fakeConfig({ engineRules: rules });
      const none = new Float64Array(list.length).fill(Number.NaN);
      const table = fakeTable(list);
      const trace = { name: 't', table, ttftUs: none, e2eUs: none, warmUp: 0, maxInFlight: 3, engine: config };
      const replayed = replayTrace(trace, fakeLatency());
      const { outcomes } = simulateFake(list, fakeCluster({ instances: 1, maxInFlight: 3, replica: config }));
      expect([...outcomes.ttftUs, ...outcomes.e2eUs]).toEqual([...replayed.ttftUs, ...replayed.e2eUs]);
    },
  );

  it('is of an engine that remembers what it did in this run, and nothing else', () => {
    const slowdown = { share: 0.5, tokenUs: 100, overUs: 50_000 };
    const costs = { step: { ...PLANTED, slowdown }, request: { queueingUs: 0, outputTokenUs: 0, postDecodeUs: 0 } };
    const trace = traceOf([0, 1000, 20_000, 30_000]);
    const { e2eUs } = replayTrace(trace, engineLatency(costs));
    expect(e2eUs).not.toEqual(replayTrace(trace, profileLatency({ ...costs, step: PLANTED })).e2eUs);
    const shared = profileLatency(costs);
    for (const _ of ['once', 'again']) expect(replayTrace(trace, shared).e2eUs).toEqual(e2eUs);
  });

  it('sends at the recorded time what nothing holds back', () => {
    expect([...replayTrace(traceOf([0, 150, 5000], 1), latency).e2eUs]).toEqual([300, 300, 300]);
  });
});
