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
  startedAt: 0,
  readyAt: 1,
  exit: null,
  isLeaving: false,
  unwellSince: null,
  restarts: 0,
  inFlight: 0,
  ...change,
});
const crashed = (restarts: number, at = NOW, readyAt: number | null = null) =>
  replica({
    phase: 'exited',
    restarts,
    readyAt,
    exit: { reason: 'ended', code: 1, signal: null, at, lastLines: ['out of luck'] },
  });
const plan = (wanted: DesiredEndpoint, replicas: readonly ObservedReplica[], now = NOW, startsFrom = 0) =>
  planEndpoint({ desired: wanted, replicas, now, startsFrom });
const several = (count: number, change: Partial<ObservedReplica> = {}) =>
  Array.from({ length: count }, () => replica(change));

describe('scale', () => {
  test('starts what is missing, and routes to those who are ready only', () => {
    const [ready, starting] = [replica(), replica({ phase: 'starting' })];
    expect(plan(desired(), [ready, starting])).toMatchObject({
      routed: [ready],
      leave: [],
      start: [{ instead: null, restarts: 0 }],
      wakeAt: null,
    });
  });

  test('lets those go first whom nobody misses', () => {
    const idle = replica({ inFlight: 1, startedAt: 1 });
    const young = replica({ inFlight: 1, startedAt: 5 });
    const busy = replica({ inFlight: 4 });
    const others = [replica({ phase: 'unready' }), replica({ phase: 'starting' }), replica({ phase: 'stopping' })];
    const all = [busy, idle, young, ...others];
    expect(plan(desired({ replicas: 3 }), all).leave).toEqual([others[2], others[1], others[0]]);
    expect(plan(desired({ replicas: 2 }), all).leave).toContain(young);
    expect(plan(desired({ replicas: 1 }), all).routed).toEqual([busy]);
  });

  test('forgets who has exited before anybody leaves', () => {
    const dead = crashed(1);
    expect(plan(desired(), [...several(3), dead])).toMatchObject({ forget: [dead], leave: [], start: [] });
  });

  test('pauses with all of them', () => {
    expect(plan(desired({ replicas: 0 }), several(2))).toMatchObject({ routed: [], start: [], wakeAt: null });
    expect(plan(desired({ replicas: 0 }), several(2)).leave).toHaveLength(2);
  });

  test('those who leave count as processes until they are gone', () => {
    const leaving = several(4, { isLeaving: true });
    expect(plan(desired({ replicas: 5 }), [replica(), ...leaving]).start).toHaveLength(1);
    expect(plan(desired({ replicas: 5 }), [replica()]).start).toHaveLength(4);
  });
});

describe('update', () => {
  const old = (count: number, change: Partial<ObservedReplica> = {}) => several(count, { specHash: 'old', ...change });

  test('a new one is ready before an old one leaves', () => {
    const before = old(3);
    expect(plan(desired(), before)).toMatchObject({ leave: [], start: [{ instead: null }] });
    const starting = replica({ phase: 'starting' });
    expect(plan(desired(), [...before, starting])).toMatchObject({ leave: [], start: [] });
    const next = plan(desired(), [...before, replica()]);
    expect([next.leave.length, next.start.length, next.routed.length]).toEqual([1, 0, 3]);
  });

  test('without a surge an old one leaves first', () => {
    const wanted = desired({ maxSurge: 0, maxUnavailable: 1 });
    const first = plan(wanted, old(3));
    expect([first.leave.length, first.start.length]).toEqual([1, 0]);
    const [leaving, ...left] = old(3);
    expect(plan(wanted, [{ ...leaving!, isLeaving: true }, ...left])).toMatchObject({ leave: [], start: [] });
    expect(plan(wanted, left).start).toHaveLength(1);
  });

  test('old ones that serve nobody leave at once', () => {
    const [starting] = old(1, { phase: 'starting' });
    const [unready] = old(1, { phase: 'unready' });
    expect(plan(desired(), [...old(3), starting!, unready!]).leave).toEqual([starting, unready]);
  });

  test('a new one that crashes takes no other place, and no old one leaves for it', () => {
    expect(plan(desired(), [...old(3), crashed(2)])).toMatchObject({ leave: [], start: [], wakeAt: NOW + 2000 });
  });

  test('while it is not known what they should be, they stay', () => {
    const replicas = [...old(2), replica(), crashed(0, NOW - 5000)];
    expect(plan(desired({ specHash: null }), replicas)).toMatchObject({
      leave: [],
      start: [],
      wakeAt: null,
      forget: [{ phase: 'exited' }],
    });
    expect(plan(desired({ specHash: null, replicas: 1 }), replicas).leave).toHaveLength(2);
  });
});

describe('crash', () => {
  test.each([
    [0, 0],
    [1, 1000],
    [2, 2000],
    [5, 16_000],
    [30, 300_000],
  ])('after %i failures another one takes the place %i ms later', (restarts, ms) => {
    const dead = crashed(restarts);
    const others = several(2);
    if (ms > 0) {
      expect(plan(desired(), [...others, dead], NOW + ms - 1)).toMatchObject({ start: [], wakeAt: NOW + ms });
    }
    expect(plan(desired(), [...others, dead], NOW + ms)).toMatchObject({
      forget: [],
      start: [{ instead: dead, restarts: restarts + 1 }],
      wakeAt: null,
    });
  });

  test('one that was well for a minute begins from the beginning', () => {
    const dead = crashed(7, NOW, NOW - 60_000);
    expect(plan(desired(), [...several(2), dead]).start).toEqual([{ instead: dead, restarts: 1 }]);
  });

  test('one that was well and does not come back is given up after two minutes, one at a time', () => {
    const [first, second] = several(2, { phase: 'unready', unwellSince: NOW });
    const others = several(1);
    const all = [first!, second!, ...others];
    expect(plan(desired(), all, NOW + 119_999)).toMatchObject({ leave: [], wakeAt: NOW + 120_000 });
    expect(plan(desired({ specHash: null }), all, NOW).wakeAt).toBe(NOW + 120_000);
    expect(plan(desired(), all, NOW + 120_000)).toMatchObject({ leave: [first], start: [{ instead: null }] });
    const leaving = [{ ...first!, isLeaving: true }, second!, ...others];
    expect(plan(desired(), leaving, NOW + 500_000)).toMatchObject({ leave: [], wakeAt: null });
  });

  test('one that its runner ends keeps its place until it has exited', () => {
    expect(plan(desired(), [...several(2), replica({ phase: 'stopping' })])).toMatchObject({ start: [], leave: [] });
  });

  test('nothing is started before its time after a start that failed', () => {
    expect(plan(desired(), several(1), NOW, NOW + 700)).toMatchObject({ start: [], wakeAt: NOW + 700 });
    expect(plan(desired(), several(3), NOW, NOW + 700).wakeAt).toBeNull();
    expect(plan(desired(), several(1), NOW + 700, NOW + 700).start).toHaveLength(2);
  });
});

describe('whatever happens, in whatever order', () => {
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
    { weight: 8, arbitrary: fc.nat().map((pick) => ({ type: 'left' as const, pick })) },
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 90_000 }).map((ms) => ({ type: 'time' as const, ms })) },
    { weight: 1, arbitrary: fc.constant({ type: 'no-room' as const }) },
    { weight: 1, arbitrary: fc.constant({ type: 'reborn' as const }) },
  );

  test('its promises hold at every step, and it comes to rest with what is wanted', () => {
    fc.assert(
      fc.property(settings, fc.array(event, { maxLength: 60 }), (first, events) => {
        const world = new FakeWorld(usable(first));
        world.step();
        for (const one of events) {
          world.happen(one.type === 'want' ? { ...one, change: usable(one.change) } : one);
          world.step();
        }
        world.happen({ type: 'want', change: usable(first) });
        world.comeToRest();
        const { desired: wanted, replicas } = world;
        expect(replicas.filter(isRouted)).toHaveLength(wanted.replicas);
        expect(replicas.map(({ specHash }) => specHash)).toEqual(replicas.map(() => wanted.specHash));
        expect(replicas).toHaveLength(wanted.replicas);
      }),
      { numRuns: 400 },
    );
  });

  /** One of the two has to be above 0: an endpoint that says otherwise is refused. */
  function usable<Settings extends { maxSurge: number; maxUnavailable: number }>(given: Settings): Settings {
    return given.maxSurge + given.maxUnavailable === 0 ? { ...given, maxSurge: 1 } : given;
  }
});
