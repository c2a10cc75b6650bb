import { describe, expect, it } from 'vitest';
import { createExplanation } from '../../policy/explanation.js';
import { DEFAULT_POLICY } from '../config/gateway-config.js';
import { DecidingFleet, type DecisionInput } from './deciding-fleet.js';
import { DecisionRing } from './decision-ring.js';
import { emptyShadowDecision, type ShadowDecision } from './shadow-decision.js';

const SIGNALS = { atUs: 0, running: 2, waiting: 1, kvUsed: 0.5, freeBlocks: 8, cacheHitRate: 0, missing: [] };

function fleetOf(replicas: number, policy = 'weighted'): DecidingFleet {
  const fleet = new DecidingFleet({ ...DEFAULT_POLICY, name: policy }, 1, 5000);
  fleet.setReplicas(Array.from({ length: replicas }, (_, i) => `r${i}`));
  return fleet;
}

/** Decides about requests as an endpoint does, and notes it. */
function noter(ring: DecisionRing) {
  let number = 0;
  return (fleet: DecidingFleet, id: string, change: Partial<DecisionInput> = {}) => {
    const why = createExplanation(fleet.view.size);
    const input: DecisionInput = {
      nowUs: 3000,
      id,
      inputTokens: 100,
      session: '',
      sloClass: 'standard',
      sloTtftUs: 0,
      sloTpotUs: 0,
      tenant: '',
      streams: true,
      body: null,
      blocks: Int32Array.of(11, 12, 13),
      blockCount: 3,
      removed: [],
      ...change,
    };
    const chosen = fleet.decide(number++, input, why);
    const facts = { id, session: input.session, inputTokens: input.inputTokens };
    ring.add({ facts, endpoint: 'e', atUs: input.nowUs, blockCount: input.blockCount, attempt: 0 }, fleet, chosen, why);
    return chosen;
  };
}

describe('DecisionRing', () => {
  it('keeps a bounded number, newest first', () => {
    const ring = new DecisionRing(3);
    const note = noter(ring);
    const fleet = fleetOf(2);
    const ids = () => ring.latest(10).map(({ id }) => id);
    expect([ring.size, ids()]).toEqual([0, []]);
    for (let i = 0; i < 8; i++) {
      note(fleet, `q${i}`);
      expect(ids()).toEqual([i, i - 1, i - 2].filter((n) => n >= 0).map((n) => `q${n}`));
    }
    expect([ring.size, ring.latest(2).length]).toEqual([3, 2]);
    expect([ring.find('q4'), ring.find('q5')?.id]).toEqual([undefined, 'q5']);
  });

  it('finds the last decision about a request', () => {
    const ring = new DecisionRing(10);
    const note = noter(ring);
    const fleet = fleetOf(2);
    note(fleet, 'q', { nowUs: 1 });
    note(fleet, 'q', { nowUs: 2 });
    expect(ring.find('q')!.atUs).toBe(2);
  });

  it('records what the policy saw, without the request itself', () => {
    const ring = new DecisionRing(10);
    const note = noter(ring);
    const fleet = fleetOf(2, 'round-robin');
    fleet.signals.set('r0', { ...SIGNALS, atUs: 1000 });
    note(fleet, 'a', { session: 's' });
    note(fleet, 'b');
    note(fleet, 'c');
    const { replicas, ...rest } = ring.find('c')!;
    expect(rest).toEqual({
      shadows: [],
      id: 'c',
      endpoint: 'e',
      session: '',
      policy: 'round-robin',
      policyHash: fleet.policyHash,
      atUs: 3000,
      inputTokens: 100,
      blockCount: 3,
      attempt: 0,
      blockSize: 16,
      rule: expect.stringContaining('turn'),
      tied: expect.any(Number),
      replica: 'r0',
    });
    expect(replicas).toEqual([
      {
        id: 'r0',
        removed: null,
        queued: 1,
        running: 2,
        kvUsed: 0.5,
        inFlight: 1,
        pendingPrefillTokens: 100,
        ongoingDecodeTokens: 0,
        routedBlocks: 3,
        ageUs: 2000,
        score: null,
        missing: [],
        terms: {},
      },
      expect.objectContaining({ id: 'r1', ageUs: null, missing: ['queued', 'running', 'kvUsed'], inFlight: 1 }),
    ]);
  });

  it('keeps scores, their parts and what removed a replica', () => {
    const ring = new DecisionRing(10);
    const fleet = fleetOf(3);
    noter(ring)(fleet, 'q', { removed: [null, 'draining: leaving the fleet', null] });
    const { replicas } = ring.find('q')!;
    expect(replicas.map(({ removed }) => removed)).toEqual([null, 'draining: leaving the fleet', null]);
    expect(replicas[1]!.score).toBeNull();
    const { score, terms } = replicas[0]!;
    expect(Object.keys(terms).length).toBeGreaterThan(1);
    expect(Object.values(terms).reduce((sum, term) => sum! + term!, 0)).toBeCloseTo(score!, 9);
  });

  it('consists of JSON values only', () => {
    const ring = new DecisionRing(10);
    noter(ring)(fleetOf(2), 'q', { removed: ['no', 'no'] });
    const record = ring.find('q')!;
    expect(record.replica).toBeNull();
    expect(JSON.parse(JSON.stringify(record))).toEqual(record);
  });

  it('stays within its bytes when the fleet grows: the oldest are dropped', () => {
    // A decision has 18 numbers per replica.
    const ring = new DecisionRing(100, 18 * 8 * 20);
    const note = noter(ring);
    const fleet = fleetOf(2);
    for (let i = 0; i < 15; i++) note(fleet, `q${i}`);
    expect(ring.size).toBe(10);
    fleet.setReplicas(['r0', 'r1', 'r2', 'r3', 'r4']);
    note(fleet, 'wide');
    expect(ring.latest(10).map(({ id }) => id)).toEqual(['wide', 'q14', 'q13', 'q12']);
    fleet.setReplicas(['r0', 'r1']);
    for (let i = 0; i < 9; i++) note(fleet, `p${i}`);
    expect(ring.latest(10).map(({ id }) => id)).toEqual(['p8', 'p7', 'p6', 'p5']);
    fleet.setReplicas(Array.from({ length: 100 }, (_, i) => `r${i}`));
    note(fleet, 'widest');
    expect(ring.latest(10).map(({ id, replicas }) => [id, replicas.length])).toEqual([['widest', 100]]);
  });

  it('copies what shadows chose, unless the decision has been overwritten', () => {
    const ring = new DecisionRing(2);
    const note = noter(ring);
    const fleet = fleetOf(2);
    const chosen = (shadow: string): ShadowDecision => ({ ...emptyShadowDecision(), shadow, replica: 'r1' });
    const reused = [chosen('a'), chosen('b')];
    note(fleet, 'q0');
    note(fleet, 'q1');
    ring.note(1, reused);
    ring.note(2, reused.slice(0, 1));
    reused[0]!.shadow = 'changed';
    const shadowsOf = (id: string) => ring.find(id)?.shadows.map(({ shadow }) => shadow);
    expect([shadowsOf('q0'), shadowsOf('q1')]).toEqual([['a', 'b'], ['a']]);
    const before = ring.find('q0')!;
    note(fleet, 'q2');
    ring.note(1, reused);
    expect([shadowsOf('q0'), shadowsOf('q2')]).toEqual([undefined, []]);
    expect(before.shadows).toEqual([chosen('a'), chosen('b')]);
  });

  it('survives another policy with other terms', () => {
    const ring = new DecisionRing(2);
    const note = noter(ring);
    const fleet = fleetOf(2);
    note(fleet, 'a');
    const before = Object.keys(ring.find('a')!.replicas[0]!.terms);
    fleet.setPolicy({ ...DEFAULT_POLICY, name: 'weighted', options: { scorers: 'queue-depth:1' } });
    for (const id of ['b', 'c', 'd']) note(fleet, id);
    expect(before.length).toBeGreaterThan(1);
    expect(Object.keys(ring.find('d')!.replicas[0]!.terms)).toEqual(['queue-depth']);
    expect(ring.find('d')!.policyHash).toBe(fleet.policyHash);
  });
});
