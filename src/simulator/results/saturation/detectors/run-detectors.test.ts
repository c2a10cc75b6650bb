import { describe, expect, it } from 'vitest';
import type { DetectorSettings } from '../../../cluster-config.js';
import { DETECTOR_NAMES } from './registry.js';
import { type DetectorChange, runDetectors } from './run-detectors.js';

const settings = (changes: Partial<DetectorSettings> = {}): DetectorSettings => ({
  names: [...DETECTOR_NAMES],
  windowS: 30,
  thresholdMs: 5000,
  bucketS: null,
  slopeFactor: 3,
  ...changes,
});

/** Ten requests per second; the e2e of each in seconds, NaN where it never ends. */
function times(requests: number, e2eS: (i: number) => number) {
  const arrivalUs = Array.from({ length: requests }, (_, i) => i * 100_000);
  return { arrivalUs, ttftUs: arrivalUs.map(() => 1000), e2eUs: arrivalUs.map((_, i) => e2eS(i) * 1e6) };
}

/** Eight per second are served, one after the other. */
const queued = (i: number) => (i + 1) / 8 - i / 10;

const levels = (found: ReturnType<typeof runDetectors>) =>
  Object.fromEntries(Object.entries(found).map(([name, { level }]) => [name, level]));

describe('runDetectors', () => {
  it('calls a load stable that is served as it arrives', () => {
    const found = runDetectors(
      times(2000, () => 1),
      settings(),
    );
    expect(levels(found)).toEqual({ composite: 'stable', threshold: 'stable', 'backlog-drift': 'stable' });
    expect(found.threshold!.signals).toEqual({ mean_e2e_ms: 1000, threshold_ms: 5000 });
    expect(found.composite!.why).toBe('');
  });

  it('calls a load overloaded whose queue grows, though it is drained after the last arrival', () => {
    const found = runDetectors(times(2000, queued), settings());
    expect(levels(found)).toEqual({ composite: 'overloaded', threshold: 'overloaded', 'backlog-drift': 'overloaded' });
    // By arithmetic: a fifth of the arrivals waits, and the wait of the i-th is i/40 s.
    expect(found.composite!.signals.rate_deficit).toBeCloseTo(0.2, 2);
    expect(found['backlog-drift']!.signals.growth_share).toBeCloseTo(0.2, 1);
    expect(found.threshold!.signals.mean_e2e_ms).toBeCloseTo(20_000, -3);
    expect(found.threshold!.why).toBe('mean E2E 20.1 s, the limit is 5.0 s');
  });

  it('counts requests that never end', () => {
    const found = runDetectors(
      times(2000, (i) => (i % 2 === 0 ? 1 : Number.NaN)),
      settings(),
    );
    expect(levels(found)).toEqual({ composite: 'backlogged', threshold: 'stable', 'backlog-drift': 'overloaded' });
  });

  it('takes a rise of latencies for a trend only where every quarter is above the one before', () => {
    const late = runDetectors(
      times(400, (i) => (i > 300 ? 1.8 : i > 200 ? 0.9 : 1)),
      settings(),
    );
    expect(late.composite!.signals.latency_trend).toBe(0);
  });

  it('objects from the thresholds on that are given', () => {
    const load = times(2000, () => 1);
    expect(runDetectors(load, settings({ thresholdMs: 900 })).threshold!.level).toBe('overloaded');
    const drift = (slopeFactor: number) =>
      runDetectors(times(2000, queued), settings({ slopeFactor }))['backlog-drift']!.level;
    expect([drift(3), drift(100)]).toEqual(['overloaded', 'backlogged']);
  });

  it('has no line with too few buckets', () => {
    expect(runDetectors(times(2000, queued), settings({ bucketS: 60 }))['backlog-drift']!.level).toBe('stable');
  });

  it('lets a window decide: a run that has recovered by its end is stable', () => {
    // The first 300 requests wait until second 30 and are then served at once; the rest are served as they arrive.
    const recovered = times(2000, (i) => (i < 300 ? 30 - i / 10 : 0.1));
    const of = (windowS: number) =>
      runDetectors(recovered, settings({ names: ['composite'], windowS })).composite!.level;
    expect([of(10), of(1e6)]).toEqual(['stable', 'stable']);
    const atRecovery = { arrivalUs: recovered.arrivalUs.slice(0, 299), e2eUs: recovered.e2eUs, ttftUs: [] };
    expect(runDetectors(atRecovery, settings({ names: ['composite'] })).composite!.level).toBe('backlogged');
  });

  it('reports every change of a level with its time, and nothing without requests', () => {
    const changes: DetectorChange[] = [];
    runDetectors(times(2000, queued), settings({ names: ['threshold'] }), (change) => changes.push(change));
    expect(changes.map(({ level }) => level)).toEqual(['stable', 'overloaded']);
    expect(changes[1]!.time_s).toBeGreaterThan(10);
    const none = runDetectors({ arrivalUs: [], ttftUs: [], e2eUs: [] }, settings());
    expect(levels(none)).toEqual({ composite: 'stable', threshold: 'stable', 'backlog-drift': 'stable' });
  });
});
