import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, type PolicyConfig } from '../config/gateway-config.js';
import { DecidingFleet, type DecisionInput } from './deciding-fleet.js';

const INPUT: DecisionInput = {
  nowUs: 0,
  id: 'q',
  inputTokens: 10,
  session: '',
  sloClass: 'standard',
  sloTtftUs: 0,
  sloTpotUs: 0,
  tenant: '',
  streams: true,
  body: null,
  blocks: new Int32Array(0),
  blockCount: 0,
  removed: [],
};

const SIGNALS = { atUs: 0, running: 0, waiting: 0, kvUsed: 0, freeBlocks: 0, cacheHitRate: 0, missing: [] };

function fleetOf(policy: Partial<PolicyConfig>, ids = ['a', 'b', 'c']): DecidingFleet {
  const fleet = new DecidingFleet({ ...DEFAULT_POLICY, ...policy }, 1, 5000);
  fleet.setReplicas(ids);
  return fleet;
}

const columns = ({ view }: DecidingFleet) => ({
  queued: Array.from(view.queued.subarray(0, view.size)),
  running: Array.from(view.running.subarray(0, view.size)),
  kvUsed: Array.from(view.kvUsed.subarray(0, view.size)),
  ageUs: Array.from(view.reportedAgeUs.subarray(0, view.size)),
});

describe('DecidingFleet', () => {
  it('shows policies what replicas reported, with its age', () => {
    const fleet = fleetOf({});
    fleet.signals.set('a', { ...SIGNALS, atUs: 1000, running: 3, waiting: 2, kvUsed: 0.5 });
    fleet.signals.set('b', { ...SIGNALS, atUs: 2000, running: 1, waiting: 4, kvUsed: 0.1 });
    fleet.signals.set('c', { ...SIGNALS, atUs: 3000 });
    fleet.decide(0, { ...INPUT, nowUs: 5000 });
    expect(columns(fleet)).toEqual({
      queued: [2, 4, 0],
      running: [3, 1, 0],
      kvUsed: [0.5, 0.1, 0],
      ageUs: [4000, 3000, 2000],
    });
    expect(Array.from(fleet.signals.known.subarray(0, 3))).toEqual([7, 7, 7]);
  });

  it('assumes that a replica without reports is like the others, never idle', () => {
    const fleet = fleetOf({ name: 'round-robin' });
    fleet.signals.set('a', { ...SIGNALS, running: 3, waiting: 2, kvUsed: 0.5 });
    fleet.signals.set('b', { ...SIGNALS, running: 1, waiting: 5, kvUsed: 0.1, missing: [] });
    for (let request = 0; request < 3; request++) fleet.decide(request, INPUT);
    fleet.decide(3, INPUT);
    expect(columns(fleet)).toEqual({
      queued: [2, 5, 4],
      running: [3, 1, 1],
      kvUsed: [0.5, 0.1, 0.3],
      ageUs: [0, 0, Number.POSITIVE_INFINITY],
    });
    expect(Array.from(fleet.signals.known.subarray(0, 3))).toEqual([7, 7, 0]);
  });

  it('assumes only what is missing', () => {
    const fleet = fleetOf({});
    fleet.signals.set('a', { ...SIGNALS, running: 3, waiting: 2, kvUsed: 0.5 });
    fleet.signals.set('b', { ...SIGNALS, running: 9, waiting: 8, kvUsed: Number.NaN });
    fleet.signals.set('c', { ...SIGNALS, running: Number.NaN, waiting: 1, kvUsed: 0.9 });
    fleet.decide(0, INPUT);
    expect(columns(fleet)).toMatchObject({ queued: [2, 8, 1], running: [3, 9, 0], kvUsed: [0.5, 0.7, 0.9] });
  });

  it('forgets what is stale, and what is stale can be changed', () => {
    const fleet = fleetOf({}, ['a']);
    fleet.signals.set('a', { ...SIGNALS, running: 3, waiting: 2 });
    fleet.decide(0, { ...INPUT, nowUs: 5_000_000 });
    expect(columns(fleet)).toMatchObject({ queued: [2], running: [3] });
    fleet.decide(1, { ...INPUT, nowUs: 5_000_001 });
    expect(columns(fleet)).toMatchObject({ queued: [0], running: [1], ageUs: [5_000_001] });
    fleet.signals.staleMs = 6000;
    fleet.decide(2, { ...INPUT, nowUs: 5_000_001 });
    expect(columns(fleet)).toMatchObject({ queued: [2], running: [3] });
  });

  it('does not prefer a replica because its metrics are missing', () => {
    const fleet = fleetOf({ name: 'weighted', options: { scorers: 'queue-depth:1,kv-utilization:1' } }, [
      'silent',
      'busy',
      'idle',
    ]);
    fleet.signals.set('busy', { ...SIGNALS, running: 40, waiting: 40, kvUsed: 1 });
    fleet.signals.set('idle', { ...SIGNALS });
    expect(fleet.view.ids[fleet.decide(0, INPUT)]).toBe('idle');
  });

  it('chooses among eligible replicas', () => {
    const fleet = fleetOf({ name: 'least-loaded' });
    expect(fleet.decide(0, { ...INPUT, removed: ['x', null, 'y'] })).toBe(1);
    expect(fleet.decide(1, { ...INPUT, removed: ['x', 'x', 'x'] })).toBe(-1);
    expect(Array.from(fleet.view.inFlight.subarray(0, 3))).toEqual([0, 1, 0]);
  });

  it('draws among equals instead of taking the first', () => {
    const fleet = fleetOf({ name: 'least-loaded' });
    const first = new Set(
      Array.from({ length: 50 }, (_, i) => {
        const chosen = fleet.decide(i, INPUT);
        fleet.finished(i, 0, 0);
        return chosen;
      }),
    );
    expect(first.size).toBe(3);
  });

  it('keeps what is in flight when its policy changes', () => {
    const fleet = fleetOf({ name: 'round-robin' });
    for (let request = 0; request < 4; request++) fleet.decide(request, INPUT);
    fleet.setPolicy({ ...DEFAULT_POLICY, name: 'least-loaded' });
    expect(Array.from(fleet.view.inFlight.subarray(0, 3))).toEqual([2, 1, 1]);
    fleet.finished(0, 0, 0);
    expect(Array.from(fleet.view.inFlight.subarray(0, 3))).toEqual([1, 1, 1]);
  });

  it('forgets the signals of replicas that leave', () => {
    const fleet = fleetOf({});
    fleet.signals.set('a', { ...SIGNALS, running: 3 });
    fleet.setReplicas(['b', 'c']);
    fleet.setReplicas(['b', 'a']);
    fleet.decide(0, INPUT);
    expect(columns(fleet).ageUs).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
    expect([fleet.slot('a'), fleet.slot('c')]).toEqual([1, -1]);
  });
});

it('refuses an oracle: only a simulation knows the true times of requests', () => {
  const policy = { ...DEFAULT_POLICY, name: 'predicted-latency', options: { oracle: 'ttft' } };
  expect(() => new DecidingFleet(policy, 1, 5000)).toThrow('only a simulation has');
});
