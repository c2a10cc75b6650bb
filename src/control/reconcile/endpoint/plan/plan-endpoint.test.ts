import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DesiredEndpoint, isRouted, type ObservedReplica } from './endpoint-state.js';
import { FakeWorld } from './fake-world.fixture.js';
import { planEndpoint } from './plan-endpoint.js';

const NOW = 1_000_000;
const desired = (change: Partial<DesiredEndpoint> = {}): DesiredEndpoint => ({
  replicas: 3,
  specHash: 'new',
  maxSurge: 1,
  maxUnavailable: 0,
  ...change,
});

let ids = 0;
const replica = (change: Partial<ObservedReplica> = {}): ObservedReplica => ({
  id: `r${ids++}`,
  specHash: 'new',
  generation: 1,
  phase: 'ready',
  url: 'http://127.0.0.1:1',
  cluster: 'local',
  problem: null,
  startedAt: 0,
  readyAt: 1,
  exit: null,
  isDraining: false,
  isLeaving: false,
  unreadySince: null,
  restarts: 0,
  inFlight: 0,
  serving: 'ready',
  ...change,
});
const crashed = (restarts: number, at = NOW, readyAt: number | null = null) =>
  replica({
    phase: 'exited',
    restarts,
    readyAt,
    exit: { reason: 'ended', code: 1, signal: null, detail: null, at, lastLines: ['out of luck'] },
  });
const plan = (wanted: DesiredEndpoint, replicas: readonly ObservedReplica[], now = NOW, startsFrom = 0) =>
  planEndpoint({ desired: wanted, replicas, now, startsFrom });
const several = (count: number, change: Partial<ObservedReplica> = {}) =>
  Array.from({ length: count }, () => replica(change));

describe('scale', () => {
  test('starts missing replicas, and routes to ready ones only', () => {
    const [ready, starting] = [replica(), replica({ phase: 'starting' })];
    expect(plan(desired(), [ready, starting])).toMatchObject({
      routed: [ready],
      drain: [],
      start: [{ replaces: null, restarts: 0 }],
      wakeAt: null,
    });
  });

  test('drains replicas that do not serve first, then the least busy', () => {
    const idle = replica({ inFlight: 1, startedAt: 1 });
    const young = replica({ inFlight: 1, startedAt: 5 });
    const busy = replica({ inFlight: 4 });
    const others = [replica({ phase: 'unready' }), replica({ phase: 'starting' }), replica({ phase: 'stopping' })];
    const all = [busy, idle, young, ...others];
    expect(plan(desired({ replicas: 3 }), all).drain).toEqual([others[2], others[1], others[0]]);
    expect(plan(desired({ replicas: 2 }), all).drain).toContain(young);
    expect(plan(desired({ replicas: 1 }), all).routed).toEqual([busy]);
  });

  test('removes exited replicas before it drains any', () => {
    const dead = crashed(1);
    expect(plan(desired(), [...several(3), dead])).toMatchObject({ remove: [dead], drain: [], start: [] });
  });

  test('drains all replicas when paused', () => {
    expect(plan(desired({ replicas: 0 }), several(2))).toMatchObject({ routed: [], start: [], wakeAt: null });
    expect(plan(desired({ replicas: 0 }), several(2)).drain).toHaveLength(2);
  });

  test('counts draining replicas as running', () => {
    const draining = several(4, { isDraining: true });
    expect(plan(desired({ replicas: 5 }), [replica(), ...draining]).start).toHaveLength(1);
    expect(plan(desired({ replicas: 5 }), [replica()]).start).toHaveLength(4);
  });
});

describe('update', () => {
  const old = (count: number, change: Partial<ObservedReplica> = {}) => several(count, { specHash: 'old', ...change });

  test('drains an old replica only when a new one is ready', () => {
    const before = old(3);
    expect(plan(desired(), before)).toMatchObject({ drain: [], start: [{ replaces: null }] });
    const starting = replica({ phase: 'starting' });
    expect(plan(desired(), [...before, starting])).toMatchObject({ drain: [], start: [] });
    const next = plan(desired(), [...before, replica()]);
    expect([next.drain.length, next.start.length, next.routed.length]).toEqual([1, 0, 3]);
  });

  test('drains an old replica only when the gateway has reached a new one', () => {
    const unreached = replica({ serving: 'starting' });
    const waiting = plan(desired(), [...old(3), unreached]);
    expect([waiting.drain.length, waiting.routed.length, waiting.isAwaitingGateway]).toEqual([0, 4, true]);
    const reached = plan(desired(), [...old(3), { ...unreached, serving: 'ready' }]);
    expect([reached.drain.length, reached.isAwaitingGateway]).toEqual([1, false]);
  });

  test('removes replicas that the gateway does not reach before those that serve', () => {
    const unreached = replica({ serving: 'unhealthy' });
    expect(plan(desired(), [replica(), replica(), unreached, replica()]).drain).toEqual([unreached]);
  });

  test('drains an old replica first when no surge is allowed', () => {
    const wanted = desired({ maxSurge: 0, maxUnavailable: 1 });
    const first = plan(wanted, old(3));
    expect([first.drain.length, first.start.length]).toEqual([1, 0]);
    const [draining, ...left] = old(3);
    expect(plan(wanted, [{ ...draining!, isDraining: true }, ...left])).toMatchObject({ drain: [], start: [] });
    expect(plan(wanted, left).start).toHaveLength(1);
  });

  test('drains old replicas that are not ready at once', () => {
    const [starting] = old(1, { phase: 'starting' });
    const [unready] = old(1, { phase: 'unready' });
    expect(plan(desired(), [...old(3), starting!, unready!]).drain).toEqual([starting, unready]);
  });

  test('keeps old replicas while a new one crashes, and starts no other', () => {
    expect(plan(desired(), [...old(3), crashed(2)])).toMatchObject({ drain: [], start: [], wakeAt: NOW + 2000 });
  });

  test('keeps replicas while the desired hash is not known', () => {
    const replicas = [...old(2), replica(), crashed(0, NOW - 5000)];
    expect(plan(desired({ specHash: null }), replicas)).toMatchObject({
      drain: [],
      start: [],
      wakeAt: null,
      remove: [{ phase: 'exited' }],
    });
    expect(plan(desired({ specHash: null, replicas: 1 }), replicas).drain).toHaveLength(2);
  });
});

describe('crash', () => {
  test.each([
    [0, 0],
    [1, 1000],
    [2, 2000],
    [5, 16_000],
    [30, 300_000],
  ])('after %i failures a replica is replaced %i ms later', (restarts, ms) => {
    const dead = crashed(restarts);
    const others = several(2);
    if (ms > 0) {
      expect(plan(desired(), [...others, dead], NOW + ms - 1)).toMatchObject({ start: [], wakeAt: NOW + ms });
    }
    expect(plan(desired(), [...others, dead], NOW + ms)).toMatchObject({
      remove: [],
      start: [{ replaces: dead, restarts: restarts + 1 }],
      wakeAt: null,
    });
  });

  test('starts the back-off again after a replica that was ready for a minute', () => {
    const dead = crashed(7, NOW, NOW - 60_000);
    expect(plan(desired(), [...several(2), dead]).start).toEqual([{ replaces: dead, restarts: 1 }]);
  });

  test('gives up unready replicas after two minutes, one at a time', () => {
    const [first, second] = several(2, { phase: 'unready', unreadySince: NOW, serving: null });
    const others = several(1);
    const all = [first!, second!, ...others];
    expect(plan(desired(), all, NOW + 119_999)).toMatchObject({ drain: [], wakeAt: NOW + 120_000 });
    expect(plan(desired({ specHash: null }), all, NOW).wakeAt).toBe(NOW + 120_000);
    expect(plan(desired(), all, NOW + 120_000)).toMatchObject({ drain: [first], start: [{ replaces: null }] });
    const draining = [{ ...first!, isDraining: true }, second!, ...others];
    expect(plan(desired(), draining, NOW + 500_000)).toMatchObject({ drain: [], wakeAt: null });
  });

  test('does not replace a stopping replica before it has exited', () => {
    expect(plan(desired(), [...several(2), replica({ phase: 'stopping' })])).toMatchObject({ start: [], drain: [] });
  });

  test('starts nothing before the retry time of a failed start', () => {
    expect(plan(desired(), several(1), NOW, NOW + 700)).toMatchObject({ start: [], wakeAt: NOW + 700 });
    expect(plan(desired(), several(3), NOW, NOW + 700).wakeAt).toBeNull();
    expect(plan(desired(), several(1), NOW + 700, NOW + 700).start).toHaveLength(2);
  });
});

describe('a cluster that calls replicas unready which respond', () => {
  const unready = (change: Partial<ObservedReplica> = {}) =>
    replica({ phase: 'unready', unreadySince: NOW, ...change });

  test('keeps the last replica that the gateway reaches in the routes, and looks again', () => {
    const last = unready();
    const others = [unready({ serving: 'unhealthy' }), unready({ serving: null })];
    expect(plan(desired(), [last, ...others])).toMatchObject({ routed: [last], drain: [], wakeAt: NOW + 2000 });
    // It is not given up while it serves; others are.
    expect(plan(desired(), [last, ...others], NOW + 120_000)).toMatchObject({ routed: [last], drain: [others[0]] });
  });

  test('keeps it until the gateway has reached another', () => {
    const last = unready();
    const starting = replica({ serving: 'starting' });
    expect(plan(desired(), [last, starting]).routed).toEqual([last, starting]);
    const reached = replica();
    expect(plan(desired(), [last, reached]).routed).toEqual([reached]);
  });

  test('does not end it for an update before a new one serves', () => {
    const last = unready({ specHash: 'old' });
    expect(plan(desired({ replicas: 1 }), [last])).toMatchObject({ routed: [last], drain: [], start: [{}] });
    const reached = replica();
    expect(plan(desired({ replicas: 1 }), [last, reached])).toMatchObject({ routed: [reached], drain: [last] });
  });

  test('ends it when the endpoint is paused', () => {
    const last = unready();
    expect(plan(desired({ replicas: 0 }), [last])).toMatchObject({ routed: [], drain: [last] });
  });
});

describe('a replica that an operator has drained', () => {
  test('stays until the gateway reaches another one in its place', () => {
    const leaving = replica({ isLeaving: true });
    const others = several(2);
    expect(plan(desired(), [leaving, ...others])).toMatchObject({ drain: [], start: [{ replaces: null }] });
    const starting = replica({ serving: 'starting' });
    expect(plan(desired(), [leaving, ...others, starting])).toMatchObject({ drain: [], start: [] });
    const reached = replica();
    expect(plan(desired(), [leaving, ...others, reached])).toMatchObject({
      routed: [...others, reached],
      drain: [leaving],
      start: [],
    });
  });

  test('leaves at once where one may be unavailable, and also where it does not serve', () => {
    const leaving = replica({ isLeaving: true });
    expect(plan(desired({ maxUnavailable: 1 }), [leaving, ...several(2)]).drain).toEqual([leaving]);
    const starting = replica({ isLeaving: true, phase: 'starting' });
    expect(plan(desired(), [starting, ...several(2)]).drain).toEqual([starting]);
  });
});

describe('any order of events', () => {
  const settings = fc.record({
    replicas: fc.integer({ min: 0, max: 6 }),
    maxSurge: fc.integer({ min: 0, max: 3 }),
    maxUnavailable: fc.integer({ min: 0, max: 3 }),
    specHash: fc.constantFrom('a', 'b', 'c'),
  });
  const event = fc.oneof(
    { weight: 3, arbitrary: settings.map((change) => ({ type: 'want' as const, change })) },
    { weight: 1, arbitrary: fc.constant({ type: 'unknown' as const }) },
    { weight: 12, arbitrary: fc.nat().map((pick) => ({ type: 'ready' as const, pick })) },
    { weight: 3, arbitrary: fc.nat().map((pick) => ({ type: 'unready' as const, pick })) },
    { weight: 4, arbitrary: fc.nat().map((pick) => ({ type: 'crash' as const, pick })) },
    { weight: 8, arbitrary: fc.nat().map((pick) => ({ type: 'reached' as const, pick })) },
    { weight: 2, arbitrary: fc.nat().map((pick) => ({ type: 'unreached' as const, pick })) },
    { weight: 8, arbitrary: fc.nat().map((pick) => ({ type: 'drained' as const, pick })) },
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 90_000 }).map((ms) => ({ type: 'time' as const, ms })) },
    { weight: 1, arbitrary: fc.constant({ type: 'no-room' as const }) },
    { weight: 2, arbitrary: fc.nat().map((pick) => ({ type: 'leave' as const, pick })) },
    { weight: 1, arbitrary: fc.constant({ type: 'restart' as const }) },
  );

  test('keeps its promises at every step, and settles in the desired state', () => {
    fc.assert(
      fc.property(settings, fc.array(event, { maxLength: 60 }), (first, events) => {
        const world = new FakeWorld(usable(first));
        world.step();
        for (const one of events) {
          world.apply(one.type === 'want' ? { ...one, change: usable(one.change) } : one);
          world.step();
        }
        world.apply({ type: 'want', change: usable(first) });
        world.settle();
        const { desired: wanted, replicas } = world;
        expect(replicas.filter(isRouted)).toHaveLength(wanted.replicas);
        expect(replicas.map(({ specHash }) => specHash)).toEqual(replicas.map(() => wanted.specHash));
        expect(replicas).toHaveLength(wanted.replicas);
        expect(replicas.filter(({ isLeaving }) => isLeaving)).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  /** One of the two must be above 0: other endpoints are refused. */
  function usable<Settings extends { maxSurge: number; maxUnavailable: number }>(given: Settings): Settings {
    return given.maxSurge + given.maxUnavailable === 0 ? { ...given, maxSurge: 1 } : given;
  }
});
