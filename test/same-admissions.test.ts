import { describe, expect, test } from 'vitest';
import { randomStream } from '../src/kernel/random-stream.js';
import type { FakeRequest } from '../src/replica/fake-replica.fixture.js';
import type { ClusterConfig, FlowControlConfig } from '../src/simulator/cluster-config.js';
import { fakeCluster, fakeFlowControl } from '../src/simulator/fake-cluster.fixture.js';
import { live, simulated, type Verdict } from './support/two-worlds.js';
import { bareEngine, emulatedEngine, type NewEngine } from './support/virtual-engine.js';

const SEEDS = [1, 2, 3, 4, 5];
const CLASSES = ['', 'critical', 'batch', 'sheddable', 'background', 'gold'];
const TENANTS = ['', 'a', 'b', 'c'];

/**
 * More than two small replicas can serve, in bursts, of all classes and tenants. No two arrive in the same microsecond.
 */
function arrivals(seed: number): FakeRequest[] {
  const random = randomStream(seed, 'two worlds');
  const pick = <T>(list: readonly T[]) => list[random.below(list.length)]!;
  let at = 0;
  return Array.from({ length: 200 }, () => {
    at += 1 + random.below(random.below(4) === 0 ? 90 : 12);
    const slo = pick(CLASSES);
    const tenant = pick(TENANTS);
    const request: FakeRequest = { at, input: 1 + random.below(40), output: 1 + random.below(12) };
    return { ...request, ...(slo === '' ? {} : { slo }), ...(tenant === '' ? {} : { tenant }) };
  });
}

function cluster(changes: Partial<ClusterConfig> = {}): ClusterConfig {
  const sloPriorities = { gold: 2 };
  return fakeCluster({ sloPriorities, ...changes }, { maxNumSeqs: 4, totalKvBlocks: 60 });
}

const queue = (changes: Partial<FlowControlConfig> = {}): Partial<ClusterConfig> => ({
  flowControl: fakeFlowControl({ maxConcurrency: 4, ...changes }),
});
const admit = (policy: string, options = {}): Partial<ClusterConfig> => ({ admission: { policy, options } });

/** Both worlds, seed by seed. What they agree on over all seeds, and how many requests waited for their replica. */
async function agreed(config: ClusterConfig, newEngine: NewEngine): Promise<{ verdicts: string[]; waited: number }> {
  const verdicts = new Set<string>();
  let waited = 0;
  for (const seed of SEEDS) {
    const list = arrivals(seed);
    const here: Verdict[] = await live(list, config, newEngine);
    expect(here, `seed ${seed}`).toEqual(simulated(list, config));
    for (const [atUs, request, verdict] of here) {
      verdicts.add(verdict);
      if (verdict.startsWith('instance') && list[Number(request.split('_')[1])]!.at !== atUs) waited++;
    }
  }
  return { verdicts: [...verdicts].sort(), waited };
}

const BOTH = ['instance_0', 'instance_1'];
const SHED = 'shed from the gateway queue for a more important one';
const FULL = 'the gateway queue is full';
const LATE = 'waited too long in the gateway queue';

describe('the gateway admits, refuses and dispatches what the simulator does, request by request', () => {
  const polled: [what: string, changes: Partial<ClusterConfig>, verdicts: string[]][] = [
    ['everybody', {}, BOTH],
    ['nobody', admit('reject-all'), ['all requests are refused']],
    ['token bucket', admit('token-bucket', { capacity: 200, refill_rate: 800_000 }), ['insufficient tokens', ...BOTH]],
    ['tier-shed', admit('tier-shed', { threshold: 6, min_priority: 3 }), ['tier shed under load', ...BOTH]],
    ['gaie-legacy', admit('gaie-legacy', { qd_threshold: 2, kv_threshold: 0.5 }), ['fleet is saturated', ...BOTH]],
    [
      'tenant budgets',
      { tenantBudgets: { a: 0.1, b: 0.3 }, ...admit('token-bucket', { capacity: 400, refill_rate: 1e6 }) },
      ['tenant is over its budget', 'insufficient tokens', ...BOTH],
    ],
    [
      'tier-shed by signals that are read now and then',
      { ...admit('tier-shed', { threshold: 6, min_priority: 3 }), snapshotRefreshUs: 100 },
      ['tier shed under load', ...BOTH],
    ],
    ['a queue that lets all go', queue({ saturationDetector: 'never' }), BOTH],
    ['bands', queue(), BOTH],
    ['bands with ceilings', queue({ usageLimitThreshold: 0.4 }), BOTH],
    ['order of arrival', queue({ dispatchOrder: 'fifo', usageLimitThreshold: 0.4 }), BOTH],
    [
      'earliest deadline',
      queue({ dispatchOrder: 'slo-deadline', sloTargetsUs: { critical: 50, gold: 400, standard: 200 } }),
      BOTH,
    ],
    ['turns of tenants', queue({ fairnessPolicy: 'round-robin' }), BOTH],
    ['a cap', queue({ maxQueueDepth: 6 }), [FULL, ...BOTH]],
    ['a cap per band', queue({ perBandCapacity: 2 }), [FULL, ...BOTH]],
    ['a cap with shedding', queue({ maxQueueDepth: 6, queueShedding: true }), [FULL, SHED, ...BOTH]],
    ['time to live', queue({ requestTtlUs: 120 }), [LATE, ...BOTH]],
    [
      'utilization',
      queue({ saturationDetector: 'utilization', queueDepthThreshold: 2, kvCacheUtilThreshold: 0.6 }),
      BOTH,
    ],
    [
      'all of it',
      {
        ...queue({
          saturationDetector: 'utilization',
          queueDepthThreshold: 2,
          usageLimitThreshold: 0.5,
          fairnessPolicy: 'round-robin',
          maxQueueDepth: 8,
          perBandCapacity: 5,
          queueShedding: true,
          requestTtlUs: 150,
        }),
        ...admit('token-bucket', { capacity: 300, refill_rate: 1.5e6 }),
        tenantBudgets: { c: 0.2 },
        routing: { policy: 'least-loaded', options: { tie_break: 'first' } },
      },
      ['insufficient tokens', 'tenant is over its budget', FULL, SHED, LATE, ...BOTH],
    ],
  ];

  test.each(polled)('%s, in front of emulated engines', async (_, changes, verdicts) => {
    const { verdicts: found, waited } = await agreed(cluster(changes), emulatedEngine);
    expect(found).toEqual([...verdicts].sort());
    if (changes.flowControl && changes.flowControl.saturationDetector !== 'never') expect(waited).toBeGreaterThan(100);
    else expect(waited).toBe(0);
  });

  const onCompletion: [what: string, changes: Partial<ClusterConfig>, verdicts: string[]][] = [
    ['bands', queue(), BOTH],
    ['order of arrival', queue({ dispatchOrder: 'fifo' }), BOTH],
    [
      'turns of tenants, caps, shedding and time to live',
      queue({ fairnessPolicy: 'round-robin', maxQueueDepth: 8, queueShedding: true, requestTtlUs: 150 }),
      [FULL, SHED, LATE, ...BOTH],
    ],
    [
      'tier-shed before a queue',
      { ...queue(), ...admit('tier-shed', { threshold: 6, min_priority: 0 }) },
      ['tier shed under load', ...BOTH],
    ],
    ['a queue that lets all go', queue({ saturationDetector: 'never' }), BOTH],
  ];

  test.each(onCompletion)('%s, on each completion', async (_, changes, verdicts) => {
    const config = cluster(changes);
    const flowControl = { ...config.flowControl!, dispatchTickUs: 0 };
    const { verdicts: found, waited } = await agreed({ ...config, flowControl }, bareEngine);
    expect(found).toEqual([...verdicts].sort());
    if (flowControl.saturationDetector !== 'never') expect(waited).toBeGreaterThan(100);
    else expect(waited).toBe(0);
  });
});
