import { describe, expect, it, test } from 'vitest';
import { ROUTING_POLICIES } from '../registry.js';
import { Suspicion } from './suspicion.js';
import { SECOND, VirtualFleet, type VirtualFleetOptions } from './virtual-fleet.fixture.js';

const QUICK_US = 50_000;
const NEVER = Number.POSITIVE_INFINITY;
const HANG_US = 2 * SECOND;
const streamed = (size: number, attempt = 0) => ({ kind: 0, size, isStreamed: true, attempt });

/** A fleet that has learned; from `HANG_US` on, `hung` gives nothing back. */
function hangingFleet(options: Partial<VirtualFleetOptions> = {}) {
  const state = { hung: -1, untilUs: NEVER };
  const fleet = new VirtualFleet({
    firstByteUs: (replica, nowUs) =>
      replica === state.hung && nowUs >= HANG_US && nowUs < state.untilUs ? NEVER : QUICK_US,
    ...options,
  });
  fleet.run(HANG_US - 1);
  state.hung = fleet.sent.indexOf(Math.max(...fleet.sent));
  return { fleet, state };
}

describe('with a hang of the replica that gets most requests', () => {
  test.each(ROUTING_POLICIES.map(({ name }) => name))('%s serves every request within 3.5 s', (policy) => {
    const { fleet, state } = hangingFleet({ policy });
    const { served } = fleet;
    fleet.run(HANG_US + 3.5 * SECOND);
    expect([fleet.suspects, fleet.waiting <= 30]).toEqual([[state.hung], true]);
    const before = [...fleet.sent];
    fleet.run(HANG_US + 16 * SECOND);
    expect(fleet.longestUs).toBeLessThan(3.5 * SECOND);
    expect(fleet.served - served).toBeGreaterThan(2000);
    // All that it has got since are probes, each after a longer pause.
    expect(fleet.sent[state.hung]! - before[state.hung]!).toBeLessThanOrEqual(4);
    expect(fleet.moves).toBeLessThanOrEqual(30 + 4);
  });

  it('probes it, and trusts it again at the first byte', () => {
    const { fleet, state } = hangingFleet();
    state.untilUs = HANG_US + 10 * SECOND;
    fleet.run(HANG_US + 10 * SECOND);
    expect([fleet.suspects, fleet.sent[state.hung]!]).toEqual([[state.hung], expect.any(Number)]);
    const probes = fleet.sent[state.hung]!;
    fleet.run(HANG_US + 30 * SECOND);
    expect(fleet.suspects).toEqual([]);
    expect(fleet.changes).toEqual([`-r${state.hung}`, `+r${state.hung}`]);
    expect(fleet.sent[state.hung]!).toBeGreaterThan(probes + 500);
  });

  it('notices it by a single client, because others are idle', () => {
    const { fleet, state } = hangingFleet({ clients: 1 });
    fleet.run(HANG_US + 4 * SECOND);
    expect([fleet.suspects, fleet.waiting <= 1, fleet.moves]).toEqual([[state.hung], true, 1]);
    expect(fleet.longestUs).toBeLessThan(3.5 * SECOND);
  });

  it('notices all but one', () => {
    const fleet = new VirtualFleet({
      firstByteUs: (replica, nowUs) => (replica > 0 && nowUs >= HANG_US ? NEVER : QUICK_US),
    });
    fleet.run(HANG_US + 12 * SECOND);
    expect(fleet.suspects).toEqual([1, 2, 3]);
    const { served } = fleet;
    fleet.run(HANG_US + 13 * SECOND);
    expect(fleet.served - served).toBeGreaterThan(200);
  });

  it('gives it ten seconds from a cold start, and only then if others respond', () => {
    const cold = new VirtualFleet({ firstByteUs: (replica) => (replica === 2 ? NEVER : QUICK_US) });
    cold.run(9.5 * SECOND);
    expect(cold.suspects).toEqual([]);
    cold.run(10.5 * SECOND);
    expect(cold.suspects).toEqual([2]);
    const dead = new VirtualFleet({ firstByteUs: () => NEVER });
    dead.run(120 * SECOND);
    expect([dead.suspects, dead.moves]).toEqual([[], 0]);
  });
});

describe('a slow but working fleet is trusted', () => {
  const expectTrusted = (fleet: VirtualFleet, untilUs: number) => {
    fleet.run(untilUs);
    expect([fleet.changes, fleet.moves]).toEqual([[], 0]);
    expect(fleet.served).toBeGreaterThan(30);
  };

  test('when it is slow from the start', () => {
    expectTrusted(new VirtualFleet({ firstByteUs: () => 25 * SECOND }), 100 * SECOND);
  });

  test('when all replicas become slow at once', () => {
    const firstByteUs = (_: number, nowUs: number) => (nowUs < HANG_US ? QUICK_US : 20 * SECOND);
    expectTrusted(new VirtualFleet({ firstByteUs }), 200 * SECOND);
  });

  test('when replicas differ in speed', () => {
    const firstByteUs = (replica: number) => (replica === 0 ? 50 * QUICK_US : QUICK_US);
    expectTrusted(new VirtualFleet({ firstByteUs }), 20 * SECOND);
  });

  test('when responses that are not streamed take long: their first byte comes at the end', () => {
    const firstByteUs = (_: number, nowUs: number, client: number) =>
      client === 0 && nowUs > 0 ? 60 * SECOND : (1 + (client % 9)) * SECOND;
    expectTrusted(new VirtualFleet({ isStreamed: false, firstByteUs }), 300 * SECOND);
  });
});

describe('a Suspicion', () => {
  /** Two replicas, of which the first has a request since 0; both have learned that first bytes take 50 ms. */
  function learned() {
    const suspicion = new Suspicion();
    suspicion.rearrange(Int32Array.of(-1, -1));
    for (let i = 0; i < 40; i++) {
      suspicion.placed(9, i % 2, streamed(100), -QUICK_US);
      suspicion.firstByte(9, true, 0);
    }
    suspicion.placed(0, 0, streamed(100), 0);
    /** Reviews at the usual interval. */
    const reviewed = (untilUs: number) => {
      for (let nowUs = untilUs - 2 * SECOND; nowUs <= untilUs; nowUs += SECOND / 4) suspicion.review(nowUs);
      return suspicion.reasonOf(0);
    };
    return { reviewed, suspicion };
  }

  it('states how long it waited and what it expected', () => {
    const { reviewed, suspicion } = learned();
    expect(reviewed(2.9 * SECOND)).toBe('');
    expect(reviewed(3.2 * SECOND)).toMatch(/^suspect: no first byte for 3\.\d s, 5\d ms expected$/);
    expect(suspicion.lateness(0, 3.2 * SECOND)).toBe('suspect');
  });

  it('gives prompts time in proportion to what is to be computed, and more to those that were late elsewhere', () => {
    const { reviewed, suspicion } = learned();
    suspicion.left(0, 0);
    suspicion.placed(1, 0, streamed(100_000), 0);
    expect(suspicion.waits.patienceUs[1]).toBeGreaterThan(100 * SECOND);
    expect(reviewed(100 * SECOND)).toBe('');
    suspicion.placed(2, 0, streamed(100, 1), 0);
    expect(suspicion.waits.patienceUs[2]).toBe(12 * SECOND);
    suspicion.waits.ceilingUs = SECOND;
    suspicion.placed(1, 0, streamed(100_000), 0);
    expect(suspicion.waits.patienceUs[1]).toBe(SECOND);
  });

  it('trusts a replica that sends tokens of older requests for twice the time', () => {
    const { reviewed, suspicion } = learned();
    suspicion.observe(0, 2.5 * SECOND, 0);
    expect(reviewed(5.4 * SECOND)).toBe('');
    suspicion.observe(0, 5.9 * SECOND, 0);
    expect(reviewed(6 * SECOND)).not.toBe('');
  });

  it('lets a request go that a replica has forgotten while it serves later ones', () => {
    const { reviewed, suspicion } = learned();
    for (let atUs = 0; atUs < 6 * SECOND; atUs += SECOND / 2) {
      suspicion.placed(1, 0, streamed(100), atUs);
      suspicion.firstByte(1, true, atUs + QUICK_US);
    }
    expect([reviewed(6 * SECOND), suspicion.lateness(0, 5.9 * SECOND)]).toEqual(['', 'in time']);
    expect(suspicion.lateness(0, 6 * SECOND)).toBe('late');
  });

  it('compares with others while it has learned nothing', () => {
    const suspicion = new Suspicion();
    suspicion.rearrange(Int32Array.of(-1, -1));
    suspicion.placed(0, 0, streamed(100), 0);
    suspicion.placed(1, 1, streamed(100), 1);
    suspicion.firstByte(1, true, QUICK_US);
    for (let nowUs = 9 * SECOND; nowUs <= 10 * SECOND; nowUs += SECOND / 4) suspicion.review(nowUs);
    expect(suspicion.reasonOf(0)).toBe('suspect: no first byte for 10.0 s, other replicas respond');
  });

  it('takes an error response as a sign of life, and learns nothing from it', () => {
    const { reviewed, suspicion } = learned();
    const before = suspicion.waits.expectedUs(0);
    expect(reviewed(4 * SECOND)).not.toBe('');
    for (const request of [0, 0, 77]) suspicion.firstByte(request, false, 4 * SECOND);
    expect([suspicion.isSuspect(0), suspicion.waits.expectedUs(0)]).toEqual([false, before]);
    expect(suspicion.lateness(77, 4 * SECOND)).toBe('in time');
  });

  it('never removes the last replica that may take a request', () => {
    const { reviewed, suspicion } = learned();
    reviewed(4 * SECOND);
    const removed: (string | null)[] = [null, 'unhealthy'];
    suspicion.remove(removed, 4 * SECOND, false);
    expect(removed).toEqual([null, 'unhealthy']);
    const both: (string | null)[] = [null, null];
    suspicion.remove(both, 4 * SECOND, false);
    expect(both).toEqual([expect.stringMatching(/^suspect: /), null]);
  });

  it('probes with one request at a time; one that leaves early is followed by the next', () => {
    const { reviewed, suspicion } = learned();
    reviewed(4 * SECOND);
    const mayTake = (nowUs: number) => {
      const removed: (string | null)[] = [null, null];
      suspicion.remove(removed, nowUs, true);
      return removed[0] === null;
    };
    expect([mayTake(4.9 * SECOND), mayTake(6 * SECOND)]).toEqual([false, true]);
    suspicion.placed(2, 0, streamed(100), 6 * SECOND);
    expect([mayTake(7 * SECOND), suspicion.lateness(2, 7 * SECOND)]).toEqual([false, 'in time']);
    suspicion.left(2, 7 * SECOND);
    expect(mayTake(7 * SECOND)).toBe(true);
    suspicion.placed(3, 0, streamed(100), 7 * SECOND);
    expect(suspicion.lateness(3, 10 * SECOND)).toBe('suspect');
    suspicion.left(3, 10 * SECOND);
    expect([mayTake(13 * SECOND), mayTake(14 * SECOND)]).toEqual([false, true]);
  });

  it('judges nothing after a gap in which the process itself was asleep', () => {
    const { suspicion } = learned();
    suspicion.review(0);
    suspicion.review(60 * SECOND);
    expect(suspicion.reasonOf(0)).toBe('');
    suspicion.firstByte(0, true, 60 * SECOND);
    suspicion.review(60.25 * SECOND);
    expect(suspicion.reasonOf(0)).toBe('');
  });

  it('follows replicas to other slots, and trusts those that were started again', () => {
    const { reviewed, suspicion } = learned();
    reviewed(4 * SECOND);
    suspicion.rearrange(Int32Array.of(1, -1, 0));
    expect([0, 1, 2].map((slot) => suspicion.isSuspect(slot))).toEqual([false, false, true]);
    suspicion.observe(2, 0, 5 * SECOND);
    expect(suspicion.isSuspect(2)).toBe(false);
    suspicion.placed(4, 2, streamed(100), 6 * SECOND);
    expect(suspicion.waits.patienceUs[4]).toBe(10 * SECOND);
    suspicion.rearrange(Int32Array.of(0));
    suspicion.left(4, 7 * SECOND);
  });
});
