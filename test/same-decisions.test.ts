import { describe, expect, test } from 'vitest';
import { randomStream } from '../src/kernel/random-stream.js';
import type { AdmissionPolicy, RoutingPolicy } from '../src/policy/contract.js';
import { policyOptions } from '../src/policy/policy-options.js';
import { optionVariants } from '../src/policy/policy-variants.fixture.js';
import { DISPATCH_ORDERS } from '../src/policy/queueing/dispatch-orders.js';
import { FAIRNESS_POLICIES } from '../src/policy/queueing/fairness-policies.js';
import { SATURATION_DETECTORS, saturationDetector } from '../src/policy/queueing/saturation.js';
import { ADMISSION_POLICIES, ROUTING_POLICIES } from '../src/policy/registry.js';
import { SCORERS } from '../src/policy/scoring/registry.js';
import type { FakeRequest } from '../src/replica/fake-replica.fixture.js';
import type { ReplicaModelConfig } from '../src/replica/replica-model-config.js';
import type { ClusterConfig } from '../src/simulator/cluster-config.js';
import { fakeCluster, fakeFlowControl } from '../src/simulator/fake-cluster.fixture.js';
import { compareWorlds, REQUESTS } from './support/changing-fleet.js';
import { live, simulated } from './support/two-worlds.js';
import { bareEngine } from './support/virtual-engine.js';

/*
 * Every policy of the registries decides the same in both worlds. A new policy is covered without a change here.
 *
 * "In a cluster" runs the whole simulator and a whole endpoint in front of the same engine models, in virtual time, and compares
 * every decision with its microsecond. The simulator has no text, so policies that key by text or by block ids are compared only
 * in "a fleet that changes", which drives the simulator's router and an endpoint step by step and gives the router that text.
 */

const PRIORITIES = { gold: 2 };

/**
 * Options as both worlds are given them: the defaults of the simulator, with blocks small enough for the prompts of a
 * test.
 */
function choiceOf(policy: RoutingPolicy | AdmissionPolicy, variant: object) {
  const blocks = 'block_size' in policy.options ? { block_size: 4 } : {};
  const options = policyOptions(policy, { ...blocks, ...variant }, 'test') as Record<string, unknown>;
  return { policy: policy.name, options };
}

function cluster(changes: Partial<ClusterConfig> = {}, replica: Partial<ReplicaModelConfig> = {}): ClusterConfig {
  return fakeCluster(
    { instances: 3, sloPriorities: PRIORITIES, ...changes },
    { maxNumSeqs: 4, totalKvBlocks: 60, ...replica },
  );
}

type Case = [name: string, changes: Partial<ClusterConfig>];

/** All scorers at once, but for those that read a replica's cache, which a gateway cannot. */
const SCORERS_WITHOUT_CACHES = SCORERS.filter(({ reads }) => !reads.includes('replicaCache'));

const routing: Case[] = ROUTING_POLICIES.flatMap((policy) => {
  const scorers = SCORERS_WITHOUT_CACHES.map(({ name }, i) => ({ name, weight: i + 1 }));
  const more = 'scorers' in policy.options ? [{ scorers }] : [];
  return [...optionVariants(policy), ...more].map((variant, i): Case => {
    return [`${policy.name} (${i})`, { routing: choiceOf(policy, variant) }];
  });
});
const admission: Case[] = ADMISSION_POLICIES.flatMap((policy) =>
  optionVariants(policy).map((variant, i): Case => {
    return [`${policy.name} (${i})`, { admission: choiceOf(policy, variant) }];
  }),
);
const queues: Case[] = DISPATCH_ORDERS.flatMap(({ name: dispatchOrder }) =>
  FAIRNESS_POLICIES.flatMap(({ name: fairnessPolicy }) =>
    SATURATION_DETECTORS.map(({ name: saturationDetector }): Case => {
      const flowControl = fakeFlowControl({
        dispatchOrder,
        fairnessPolicy,
        saturationDetector,
        maxConcurrency: 2,
        queueDepthThreshold: 2,
        usageLimitThreshold: 0.6,
        maxQueueDepth: 12,
        queueShedding: true,
        sloTargetsUs: { critical: 50, gold: 400, standard: 200 },
      });
      return [`${dispatchOrder}, ${fairnessPolicy}, ${saturationDetector}`, { flowControl }];
    }),
  ),
);

/**
 * A report lets requests out of a gateway's queue, which nothing does in the simulator: by reports, ticks are compared.
 */
function readsBooks([, { flowControl }]: Case): boolean {
  const { reads } = saturationDetector(flowControl!.saturationDetector);
  return reads.every((signal) => signal === 'inFlight');
}

const KEYED = ['body', 'contentKey', 'replicaCache'] as const;

/** Whether a policy decides by nothing that only one of the worlds has. */
function isComparable({ routing: { options, policy } }: ClusterConfig): boolean {
  const reads = ROUTING_POLICIES.find(({ name }) => name === policy)!.reads(options);
  return !KEYED.some((signal) => reads.includes(signal));
}

/** More than three small replicas can serve, in bursts, of all classes, tenants, sessions and shared prefixes. */
function arrivals(seed: number): FakeRequest[] {
  const random = randomStream(seed, 'same decisions');
  const pick = <T>(list: readonly T[]) => list[random.below(list.length)]!;
  let at = 0;
  return Array.from({ length: 150 }, (): FakeRequest => {
    at += 1 + random.below(random.below(4) === 0 ? 90 : 12);
    const group = pick(['', 'g1', 'g2', 'g3']);
    const slo = pick(['', 'critical', 'batch', 'sheddable', 'gold']);
    const tenant = pick(['', 'a', 'b']);
    const session = pick(['', 's1', 's2', 's3']);
    return {
      at,
      input: 1 + random.below(40),
      output: 1 + random.below(12),
      ...(group === '' ? {} : { group, prefix: 8 * Number(group.slice(1)) }),
      ...(slo === '' ? {} : { slo }),
      ...(tenant === '' ? {} : { tenant }),
      ...(session === '' ? {} : { session }),
    };
  });
}

/** Compares both worlds for one list of arrivals; what was decided about each. */
async function agreed(config: ClusterConfig, seed: number): Promise<string[]> {
  const list = arrivals(seed);
  const here = await live(list, config, bareEngine);
  expect(here).toEqual(simulated(list, config));
  return here.map(([, , verdict]) => verdict);
}

describe('in a cluster', () => {
  test.each(routing.filter(([, changes]) => isComparable(cluster(changes))))(
    'routing by %s is the same',
    async (_, changes) => {
      expect(new Set(await agreed(cluster(changes), 1)).size).toBeGreaterThan(0);
    },
  );

  test.each(admission)('admission by %s is the same', async (_, changes) => {
    const config = cluster({ ...changes, tenantBudgets: { a: 0.2 }, routing: { policy: 'round-robin', options: {} } });
    expect(await agreed(config, 2)).toHaveLength(150);
  });

  test.each(queues)('the queue with %s is the same on ticks', async (_, changes) => {
    expect(await agreed(cluster(changes), 3)).toHaveLength(150);
  });

  test.each(queues.filter(readsBooks))('the queue with %s is the same on completions', async (_, changes) => {
    const config = cluster(changes);
    // Requests that end in the same step leave the simulator together, and a gateway one by one: ceilings would show
    // that.
    const flowControl = { ...config.flowControl!, dispatchTickUs: 0, usageLimitThreshold: 1 };
    expect(await agreed({ ...config, flowControl }, 4)).toHaveLength(150);
  });
});

describe('in a fleet that changes', () => {
  /** Blocks so large that some prompts do not fill one: then the session is their content key. */
  const fleet = (changes: Partial<ClusterConfig>) => cluster(changes, { blockSize: 32 });
  const differ = (step: string, here: string[], there: string[]) => expect(here, step).toEqual(there);

  test.each(routing)('routing by %s is the same', async (_, changes) => {
    const { decisions, replicas } = await compareWorlds(fleet(changes), 5, differ);
    expect(decisions).toBeGreaterThan(REQUESTS);
    expect(replicas.size).toBeGreaterThan(3);
  });

  test.each(admission)('admission by %s is the same', async (_, changes) => {
    const config = fleet({ ...changes, tenantBudgets: { a: 0.1, b: 0.3 } });
    const { decisions, refusals } = await compareWorlds(config, 6, differ);
    expect(decisions).toBeGreaterThanOrEqual(REQUESTS);
    expect(refusals.size).toBeGreaterThan(0);
  });

  test.each(queues)('the queue with %s is the same', async (name, changes) => {
    const config = fleet(changes);
    const flowControl = { ...config.flowControl!, dispatchTickUs: 0 };
    const { waited } = await compareWorlds({ ...config, flowControl }, 7, differ);
    if (!name.endsWith('never')) expect(waited).toBeGreaterThan(20);
  });
});
