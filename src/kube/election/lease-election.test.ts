import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KubeStatusError } from '../errors.js';
import { type ElectionOptions, LeaseElection } from './lease-election.js';
import { MemoryLeases } from './memory-leases.fixture.js';

const LEASE = { namespace: 'prod', name: 'twinyard' };
const HOUR_MS = 3_600_000;

describe('leader election by a Lease', () => {
  let api: MemoryLeases;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'Date', 'performance'] });
    api = new MemoryLeases();
  });
  afterEach(() => vi.useRealTimers());

  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const lease = () => api.leases.get('twinyard')!;

  /** A process with clocks of its own, which can be stopped and continued. */
  async function join(identity: string, more: Partial<ElectionOptions> & { skewMs?: number } = {}) {
    const client = api.client();
    const problems: string[] = [];
    const changes: boolean[] = [];
    const { skewMs = 0, ...options } = more;
    const election = await LeaseElection.open({
      ...{ client, identity, lease: LEASE, mayLead: async () => true, isAble: () => true },
      changed: (isHeld) => changes.push(isHeld),
      onProblem: (line) => problems.push(line),
      clock: () => performance.now() + skewMs,
      wallClock: () => Date.now() + skewMs,
      ...options,
    });
    return { client, problems, changes, election };
  }

  /** How long until a condition holds, in steps of 100 ms, and never more than a minute. */
  async function timeUntil(isSo: () => boolean): Promise<number> {
    let ms = 0;
    while (!isSo() && ms < 60_000) {
      await pass(100);
      ms += 100;
    }
    return ms;
  }

  it('is held by the first, and taken over 15 to 17 seconds after its last renewal', async () => {
    const a = await join('a');
    await pass(1900);
    const b = await join('b');
    expect([a.election.isHeld, b.election.isHeld]).toEqual([true, false]);
    expect(lease().spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
    await pass(60_000);
    expect([a.election.isHeld, b.election.isHeld]).toEqual([true, false]);
    // Killed, right after a renewal.
    const { renewTime } = lease().spec!;
    await timeUntil(() => lease().spec!.renewTime !== renewTime);
    a.client.isAway = true;
    const tookMs = await timeUntil(() => b.election.isHeld);
    expect(tookMs).toBeGreaterThanOrEqual(15_000);
    expect(tookMs).toBeLessThanOrEqual(17_000);
    expect(lease().spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    expect(api.events).toEqual(['a became leader', 'b became leader']);
  });

  it('is never held by two: the holder has stopped for seconds when another one begins', async () => {
    for (const lagMs of [0, 700, 1900]) {
      api = new MemoryLeases();
      const a = await join('a');
      await pass(lagMs);
      const b = await join('b');
      a.client.isAway = true;
      const stoppedMs = await timeUntil(() => !a.election.isHeld);
      expect(stoppedMs).toBeLessThanOrEqual(10_000);
      expect(await timeUntil(() => b.election.isHeld)).toBeGreaterThanOrEqual(3000);
      expect(a.problems).toEqual([
        'Lease prod/twinyard was not renewed for 10 seconds: reconciliation stopped, existing routes are still served (connect ECONNREFUSED)',
      ]);
      a.client.isAway = false;
      await pass(60_000);
      expect([a.election.isHeld, b.election.isHeld]).toEqual([false, true]);
      await Promise.all([a.election.release(), b.election.release()]);
    }
  });

  it('is renewed again after an interruption that no other process has used', async () => {
    const a = await join('a');
    a.client.isAway = true;
    await pass(12_000);
    expect(a.election.isHeld).toBe(false);
    a.client.isAway = false;
    await pass(2000);
    expect([a.election.isHeld, a.changes, lease().spec!.leaseTransitions]).toEqual([true, [true, false, true], 0]);
  });

  it.each([HOUR_MS, -HOUR_MS])('does not compare clocks: one that is off by %d ms changes nothing', async (skewMs) => {
    const a = await join('a', { skewMs });
    const b = await join('b');
    await pass(30_000);
    expect([a.election.isHeld, b.election.isHeld]).toEqual([true, false]);
    a.client.isAway = true;
    const tookMs = await timeUntil(() => b.election.isHeld);
    expect(tookMs).toBeGreaterThanOrEqual(13_000);
    expect(tookMs).toBeLessThanOrEqual(17_000);
  });

  it('does not let a process act that was stopped, before any of its timers has run', async () => {
    let stoppedMs = 0;
    const a = await join('a', { clock: () => performance.now() + stoppedMs });
    const b = await join('b');
    expect(a.election.isHeld).toBe(true);
    stoppedMs = 10_000;
    expect(a.election.isHeld).toBe(false);
    stoppedMs = 0;
    // Stopped between a renewal's departure and its arrival: the time before it counts.
    let arrive = () => {};
    a.client.hold = new Promise((resolve) => {
      arrive = resolve;
    });
    await pass(2000);
    stoppedMs = 10_000;
    arrive();
    a.client.hold = null;
    await pass(0);
    expect([a.election.isHeld, b.election.isHeld]).toEqual([false, false]);
  });

  it('does not let a process act after its machine was suspended, which a monotonic clock does not count', async () => {
    let suspendedMs = 0;
    const a = await join('a', { wallClock: () => Date.now() + suspendedMs });
    suspendedMs = 10_000;
    expect(a.election.isHeld).toBe(false);
    await pass(2000);
    expect(a.election.isHeld).toBe(true);
    suspendedMs = -HOUR_MS;
    a.client.isAway = true;
    await pass(10_000);
    expect(a.election.isHeld).toBe(false);
  });

  it('gives it to one of several that start at the same time, and of those that wait', async () => {
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((id) => join(id)));
    const holders = () => all.filter(({ election }) => election.isHeld);
    expect(holders()).toHaveLength(1);
    await pass(4000);
    holders()[0]!.client.isAway = true;
    await pass(10_000);
    expect(holders()).toHaveLength(0);
    await pass(7000);
    expect(holders()).toHaveLength(1);
    expect(lease().spec!.leaseTransitions).toBe(1);
  });

  it('is free at once after its release, which is in its events', async () => {
    const a = await join('a');
    const b = await join('b');
    await a.election.release();
    expect(a.election.isHeld).toBe(false);
    expect(lease().spec!.holderIdentity).toBeUndefined();
    expect(await timeUntil(() => b.election.isHeld)).toBeLessThanOrEqual(2000);
    await pass(20_000);
    expect(a.election.isHeld).toBe(false);
    expect(api.events).toEqual(['a became leader', 'a stopped leading', 'b became leader']);
  });

  it('says when it cannot be released, and then ends by itself', async () => {
    const a = await join('a');
    const b = await join('b');
    a.client.isAway = true;
    await a.election.release();
    expect(a.problems).toEqual([
      'Lease prod/twinyard was not released: another process takes over in 15 seconds (connect ECONNREFUSED)',
    ]);
    expect(await timeUntil(() => b.election.isHeld)).toBe(15_000);
  });

  it('goes on at once after a crash with the same identity', async () => {
    await join('a');
    vi.clearAllTimers();
    expect((await join('a')).election.isHeld).toBe(true);
    expect([api.events, lease().spec!.leaseTransitions]).toEqual([['a became leader'], 0]);
  });

  it('is kept when others edit the Lease, and what they wrote stays', async () => {
    const a = await join('a');
    const { metadata } = lease();
    api.put({ ...lease(), metadata: { ...metadata, annotations: { note: 'kept' } } });
    await pass(2000);
    expect(a.changes).toEqual([true]);
    await pass(10_000);
    expect([a.election.isHeld, lease().metadata.annotations]).toEqual([true, { note: 'kept' }]);
  });

  it('is created again by its holder, and by others only when its time is over', async () => {
    const a = await join('a');
    const b = await join('b');
    await pass(2000);
    a.client.isAway = true;
    api.leases.clear();
    const tookMs = await timeUntil(() => b.election.isHeld);
    expect(tookMs).toBeGreaterThanOrEqual(13_000);
    expect(lease().spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    api.leases.clear();
    await pass(2000);
    expect([b.election.isHeld, lease().spec!.holderIdentity, lease().spec!.leaseTransitions]).toEqual([true, 'b', 1]);
  });

  it('is given up by a holder that cannot lead any more, and left alone by one that may not', async () => {
    let isAble = true;
    let may = true;
    const a = await join('a', { isAble: () => isAble, mayLead: async () => may });
    const b = await join('b', { mayLead: async () => false });
    isAble = false;
    may = false;
    await pass(20_000);
    expect([a.election.isHeld, b.election.isHeld, lease().spec!.holderIdentity]).toEqual([false, false, undefined]);
    isAble = true;
    may = true;
    await pass(2000);
    expect(a.election.isHeld).toBe(true);
  });

  it('reports a refusal once in the words of the API server, and leads as soon as it may', async () => {
    const refusal = new KubeStatusError(403, 'Forbidden', 'leases.coordination.k8s.io is forbidden');
    const client = api.client();
    let isRefused = true;
    const json = (path: string, call: object) => (isRefused ? Promise.reject(refusal) : client.json(path, call));
    const a = await join('a', { client: { json } as never });
    await pass(20_000);
    expect(a.problems).toEqual([
      'Lease prod/twinyard: this process cannot lead (leases.coordination.k8s.io is forbidden)',
    ]);
    isRefused = false;
    await pass(2000);
    expect(a.election.isHeld).toBe(true);
  });
});
