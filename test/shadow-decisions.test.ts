import { describe, expect, test } from 'vitest';
import { DecisionRing } from '../src/gateway/decisions/decision-ring.js';
import type { Endpoint } from '../src/gateway/fleet/endpoint/endpoint.js';
import type { ShadowFigures } from '../src/gateway/telemetry/shadow-figures.js';
import { randomStream } from '../src/kernel/random-stream.js';
import type { RoutingPolicy } from '../src/policy/contract.js';
import { policyOptions } from '../src/policy/policy-options.js';
import { optionVariants } from '../src/policy/policy-variants.fixture.js';
import { ROUTING_POLICIES } from '../src/policy/registry.js';
import type { FakeRequest } from '../src/replica/fake-replica.fixture.js';
import { fakeCluster } from '../src/simulator/fake-cluster.fixture.js';
import { ShadowBoard } from '../src/twin/shadow/shadow-board.js';
import { ManualClock } from '../src/twin/shadow/time/manual-clock.fixture.js';
import { compareWorlds } from './support/changing-fleet.js';
import { live, simulated, type Watched } from './support/two-worlds.js';
import { bareEngine } from './support/virtual-engine.js';

/*
 * A shadow of the policy that serves, on the real placements, decides what that policy decides, and so what the simulator
 * decides: for every policy of the registry, without a change here for a new one. Shadows decide later than the policy that
 * serves, when the fleet has moved on, as they do in a gateway.
 */

type Case = [name: string, policy: RoutingPolicy, options: Record<string, unknown>];

const cases: Case[] = ROUTING_POLICIES.flatMap((policy) =>
  optionVariants(policy).flatMap((variant, i): Case[] => {
    const blocks = 'block_size' in policy.options ? { block_size: 4 } : {};
    const given = policyOptions(policy, { ...blocks, ...variant }, 'test') as Record<string, unknown>;
    // Draws are the harder case: a shadow has to make as many as the policy that serves, in the same order.
    return [[`${policy.name} (${i})`, policy, 'tie_break' in given ? { ...given, tie_break: 'random' } : given]];
  }),
);

const KEYED = ['body', 'contentKey', 'replicaCache'] as const;

function arrivals(seed: number): FakeRequest[] {
  const random = randomStream(seed, 'shadow decisions');
  let at = 0;
  return Array.from({ length: 60 }, (): FakeRequest => {
    at += 1 + random.below(random.below(4) === 0 ? 60 : 10);
    const group = random.below(4);
    return {
      at,
      input: 1 + random.below(40),
      output: 1 + random.below(12),
      ...(group === 0 ? {} : { group: `g${group}`, prefix: 8 * group }),
      ...(random.below(2) === 0 ? {} : { session: `s${random.below(3)}` }),
      ...(random.below(3) === 0 ? { slo: 'batch' } : {}),
    };
  });
}

/** A board whose shadows decide when the test says so. */
class LateBoard extends ShadowBoard {
  readonly endpoints: Endpoint[];
  readonly watched: Watched;

  constructor(policy: string, given: Record<string, unknown>) {
    const endpoints: Endpoint[] = [];
    const clock = new ManualClock();
    const fault = (error: unknown) => {
      throw error;
    };
    super({ seed: fakeCluster({}, {}).seed, nowUs: () => 0, fault, clock });
    this.endpoints = endpoints;
    const { block_size: _, ...options } = given;
    const ring = new DecisionRing(10_000);
    this.watched = {
      choices: [{ name: 'itself', policy, options }],
      shadows: this,
      ring,
      afterEvent: () => clock.settle(),
    };
  }

  override changed(endpoint: Endpoint): void {
    super.changed(endpoint);
    if (!this.endpoints.includes(endpoint)) this.endpoints.push(endpoint);
  }

  get itself(): ShadowFigures {
    return this.of(this.endpoints[0]!)[0]!;
  }
}

const sums = ({ onRealPlacements }: ShadowFigures) =>
  onRealPlacements.reduce(
    (sum, { different, forced, same, tied }) => ({
      agreed: sum.agreed + same + forced,
      others: sum.others + tied + different,
    }),
    { agreed: 0, others: 0 },
  );

describe('a shadow of the policy that serves', () => {
  const comparable = cases.filter(
    ([name, policy, options]) =>
      name.endsWith('(0)') && !KEYED.some((signal) => policy.reads(options).includes(signal)),
  );

  test.each(comparable)('decides as the simulator does: %s', async (_, { name }, options) => {
    const config = fakeCluster(
      { instances: 3, routing: { policy: name, options } },
      { maxNumSeqs: 4, totalKvBlocks: 60, blockSize: 4 },
    );
    const board = new LateBoard(name, options);
    const list = arrivals(1);
    await live(list, config, bareEngine, board.watched);
    const decided = board.watched.ring!.latest(list.length).reverse();
    const there = simulated(list, config).map(([, id, replica]) => [id, replica]);
    expect(decided.map(({ id, shadows }) => [id, shadows[0]?.replica])).toEqual(there);
    expect(sums(board.itself)).toEqual({ agreed: list.length, others: 0 });
  });

  test.each(cases)('agrees while replicas join, leave and fail: %s', async (_, { name }, options) => {
    const config = fakeCluster({ instances: 3, routing: { policy: name, options } }, { blockSize: 32 });
    const board = new LateBoard(name, options);
    const { decisions } = await compareWorlds(config, 5, () => {}, board.watched);
    const { agreed, others } = sums(board.itself);
    expect(others).toBe(0);
    // Requests that no replica could take are no decisions of a policy.
    expect(agreed).toBeGreaterThan(decisions * 0.8);
    expect(board.itself.dropped).toBe(0);
  });
});
