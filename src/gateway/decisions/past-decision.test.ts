import { describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { createExplanation } from '../../policy/explanation.js';
import { type FlipRecord, flipRecord } from '../../policy/flip/flip-record.js';
import { ROUTING_POLICIES } from '../../policy/registry.js';
import { DEFAULT_POLICY } from '../config/gateway-config.js';
import { DecidingFleet } from './deciding-fleet.js';
import { DecisionRing } from './decision-ring.js';

const IDS = ['a', 'b', 'c', 'd', 'e'];
const REQUESTS = 60;
const SHADOWED: Record<string, object> = {
  weighted: { scorers: 'prefix-affinity:2,no-hit-lru:1,queue-depth:1,kv-utilization:1' },
  'sglang-cache-aware': { balance_abs_threshold: 2, balance_rel_threshold: 1.1 },
};

/** Decides about varied requests as an endpoint does. Returns what would have flipped each, found at its time and from the ring at the end. */
function flipsOf(policy: string, options: object): { then: (FlipRecord | null)[]; later: (FlipRecord | null)[] } {
  const random = randomStream(5, policy);
  const fleet = new DecidingFleet({ ...DEFAULT_POLICY, name: policy, options: { ...options } }, 1, 5000);
  const ring = new DecisionRing(REQUESTS);
  fleet.setReplicas(IDS);
  const then: (FlipRecord | null)[] = [];
  const { host } = fleet;
  const placed = host.placed.bind(host);
  const why = createExplanation(IDS.length);
  host.placed = (request, chosen, streams) => {
    then.push(flipRecord(host.findFlip(chosen, why), IDS));
    placed(request, chosen, streams);
  };
  for (let i = 0; i < REQUESTS; i++) {
    for (const id of IDS) {
      const signals = { running: random.below(6), waiting: random.below(4), kvUsed: random.next(), freeBlocks: 8 };
      fleet.signals.set(id, { ...signals, atUs: i, cacheHitRate: 0, missing: [] });
    }
    const prompt = random.below(6);
    const blockCount = 1 + random.below(4);
    const session = ['', 's', 't'][random.below(3)]!;
    const input = {
      ...{ nowUs: i, id: `q${i}`, inputTokens: blockCount * 16 + random.below(16), session, sloClass: '', tenant: '' },
      ...{ streams: true, sloTtftUs: 0, sloTpotUs: 0 },
      body: fleet.readsBody ? { messages: [{ role: 'user', content: `prompt ${prompt}` }] } : null,
      blocks: Int32Array.from({ length: 4 }, (_, block) => prompt * 10 + block),
      blockCount,
      removed: IDS.map(() => (random.below(6) === 0 ? 'draining' : null)).with(random.below(5), null),
    };
    const chosen = fleet.decide(i, input, why);
    const { id, inputTokens } = input;
    ring.add(
      { facts: { id, session, inputTokens }, endpoint: 'e', atUs: i, blockCount, attempt: 0 },
      fleet,
      chosen,
      why,
    );
    if (random.below(3) > 0) fleet.firstToken(random.below(i + 1), i);
    if (random.below(3) > 0) fleet.finished(random.below(i + 1), i, 9);
  }
  const later = Array.from({ length: REQUESTS }, (_, i) => ring.explain(`q${i}`)!.flip);
  return { then, later };
}

describe('a decision in the ring', () => {
  it.each(ROUTING_POLICIES.map(({ name }) => name))(
    'of %s is flipped by what would have flipped it at its time',
    (name) => {
      const { later, then } = flipsOf(name, SHADOWED[name] ?? {});
      expect(later).not.toContain(null);
      expect(later).toEqual(then);
    },
  );

  it('is found with a change for every policy that compares replicas by what they report or hold', () => {
    for (const name of [
      'least-loaded',
      'lmetric',
      'unified',
      'weighted',
      'dynamo-cost',
      'sglang-cache-aware',
      'chwbl',
    ]) {
      const { later } = flipsOf(name, SHADOWED[name] ?? {});
      expect([name, later.some((flip) => flip!.change !== null)]).toEqual([name, true]);
    }
  });

  it('without a replica has no change', () => {
    const fleet = new DecidingFleet({ ...DEFAULT_POLICY, name: 'lmetric' }, 1, 5000);
    const ring = new DecisionRing(1);
    fleet.setReplicas(['a', 'b']);
    const why = createExplanation(2);
    const input = {
      nowUs: 0,
      id: 'q',
      inputTokens: 5,
      session: '',
      sloClass: '',
      sloTtftUs: 0,
      sloTpotUs: 0,
      tenant: '',
      body: null,
      streams: true,
    };
    const removed = ['down', 'down'];
    const chosen = fleet.decide(0, { ...input, blocks: new Int32Array(0), blockCount: 0, removed }, why);
    ring.add({ facts: input, endpoint: 'e', atUs: 0, blockCount: 0, attempt: 0 }, fleet, chosen, why);
    expect(ring.explain('q')).toMatchObject({ replica: null, flip: { change: null, eligible: 0 } });
    expect(ring.explain('other')).toBeUndefined();
  });
});
