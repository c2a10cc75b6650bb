import { describe, expect, it } from 'vitest';
import { type FakeRequest, fakeReplica } from '../replica/fake-replica.fixture.js';
import { fakeCluster, simulateFake } from './fake-cluster.fixture.js';

// A step takes 10 us and 1 us per token: that of the first prompt lasts from 0 to 110.

const RULES = ['classic', 'vllm-v1', 'vllm-v1-async'] as const;
const PROMPT: FakeRequest = { input: 100, output: 1 };

/** Where a request that arrives at this time goes, after the first prompt has gone to instance_0. */
function placeOf(at: number, engineRules: string, policy: string, first: FakeRequest = PROMPT) {
  const config = fakeCluster({ routing: { policy, options: {} } }, { engineRules });
  return simulateFake([first, { at, input: 4 }], config).of(1).instance;
}

describe('a departure', () => {
  it('is reported at the start of its step by the classic rules', () => {
    expect(placeOf(1, 'classic', 'least-loaded')).toBe('instance_0');
  });

  it.each(RULES.slice(1))('is reported at the end of its step by %s', (rules) => {
    expect([1, 50, 109, 111].map((at) => placeOf(at, rules, 'least-loaded'))).toEqual([
      ...['instance_1', 'instance_1', 'instance_1'],
      'instance_0',
    ]);
  });

  it('at the very time of an arrival is reported before it', () => {
    expect(placeOf(110, 'vllm-v1', 'least-loaded')).toBe('instance_0');
  });
});

describe('a pending prompt', () => {
  // With requests in flight on both, lmetric prefers the replica without prompt tokens to compute.
  const place = (at: number, engineRules: string) =>
    simulateFake(
      [
        { input: 100, output: 50 },
        { input: 2, output: 50 },
        { at, input: 4 },
      ],
      fakeCluster({ routing: { policy: 'lmetric', options: { batch_offset: 1 } } }, { engineRules }),
    ).of(2).instance;

  it('is over at the start of its last step by the classic rules', () => {
    expect(place(50, 'classic')).toBe('instance_0');
  });

  it.each(RULES.slice(1))('is met by arrivals until the end of its last step by %s', (rules) => {
    expect([50, 109, 110].map((at) => place(at, rules))).toEqual(['instance_1', 'instance_1', 'instance_0']);
  });
});

describe('reports of a replica', () => {
  const pair: FakeRequest[] = [
    { input: 4, output: 2 },
    { at: 5, input: 4, output: 1 },
  ];

  it('come at the start of a step by the classic rules', () => {
    const { events, run } = fakeReplica(pair);
    run();
    expect(events.map(({ toldUs, row, what }) => [toldUs, row, what])).toEqual([
      [0, 0, 'first token'],
      [14, 1, 'first token'],
      [14, 0, 'completed'],
      [14, 1, 'completed'],
    ]);
  });

  it('come at its end by those of vLLM, and before the next step', () => {
    const { events, run } = fakeReplica(pair, { config: { engineRules: 'vllm-v1' } });
    run();
    expect(events.map(({ toldUs, row, what, atUs }) => [toldUs, row, what, atUs])).toEqual([
      [14, 0, 'first token', undefined],
      [29, 1, 'first token', undefined],
      [29, 0, 'completed', 29],
      [29, 1, 'completed', 29],
    ]);
  });

  it.each(RULES)('show requests and blocks until their departure is reported by %s', (engineRules) => {
    const { replica, runUntil } = fakeReplica([{ input: 8, output: 1 }], { config: { engineRules } });
    runUntil(1);
    const late = engineRules !== 'classic';
    expect([replica.reports.running, replica.reports.usedBlocks, replica.isBusy]).toEqual(
      late ? [1, 2, true] : [0, 0, false],
    );
    runUntil(19);
    expect([replica.reports.running, replica.reports.usedBlocks, replica.isBusy]).toEqual([0, 0, false]);
  });

  it('do not include the first token of a request that was lost during the step', () => {
    const lost: FakeRequest = { input: 4, output: 9, deadline: 7 };
    const { events, run } = fakeReplica([lost], { config: { engineRules: 'vllm-v1' } });
    run();
    expect(events).toEqual([{ toldUs: 7, row: 0, what: 'lost', atUs: 7 }]);
  });

  it('after the horizon never come', () => {
    const { events, replica, run } = fakeReplica([PROMPT], { config: { engineRules: 'vllm-v1' }, horizonUs: 50 });
    run();
    expect(events).toEqual([]);
    expect(replica.counters.completed).toBe(1);
  });

  const alone = Array.from({ length: 12 }, (_, i): FakeRequest => ({ at: 40 * i, input: 5 + i, output: 3 * i }));
  const growing = alone.map(
    (one, i): FakeRequest => ({ ...one, session: `s${i % 3}`, grows: true, output: 4 + 2 * i }),
  );
  it.each(RULES.flatMap((rules) => [[rules, alone] as const, [rules, growing] as const]))(
    'are the same whether a replica runs step by step or up to a moment by %s',
    (engineRules, list) => {
      const config = { engineRules, totalKvBlocks: 40 };
      const stepwise = fakeReplica(list, { config });
      stepwise.run();
      const atOnce = fakeReplica(list, { config });
      for (const [row, one] of list.entries()) {
        atOnce.replica.advance(one.at!);
        atOnce.replica.enqueue(row, one.at!);
      }
      atOnce.replica.advance(Number.POSITIVE_INFINITY);
      const told = (events: typeof stepwise.events) => events.map(({ row, what, atUs }) => [row, what, atUs]);
      expect(told(atOnce.events)).toEqual(told(stepwise.events));
      expect(atOnce.outcomes.e2eUs).toEqual(stepwise.outcomes.e2eUs);
      expect(atOnce.replica.kv.hits).toBe(stepwise.replica.kv.hits);
    },
  );
});
