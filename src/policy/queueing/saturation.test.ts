import { describe, expect, it } from 'vitest';
import { createFleetView } from '../fleet-view.js';
import { SATURATION_DETECTORS, saturationDetector } from './saturation.js';

const LIMITS = { queueDepth: 5, kvUsed: 0.8, maxConcurrency: 10 };

function fleet() {
  const view = createFleetView(3);
  view.queued.set([5, 0, 90]);
  view.kvUsed.set([0.1, 0.4, 1]);
  view.inFlight.set([3, 6, 90]);
  view.eligible[2] = 0;
  return view;
}

describe('saturation detectors', () => {
  it('never: always room', () => {
    expect(saturationDetector('never').measure(fleet(), LIMITS)).toBe(0);
  });

  it('utilization: mean of the worse of queue and memory, over eligible replicas', () => {
    expect(saturationDetector('utilization').measure(fleet(), LIMITS)).toBe((1 + 0.5) / 2);
  });

  it('concurrency: requests in flight as a share of the limit, over eligible replicas', () => {
    expect(saturationDetector('concurrency').measure(fleet(), LIMITS)).toBe(9 / 20);
  });

  it('a fleet without replicas is full, except for the detector never', () => {
    const empty = createFleetView(0);
    expect(SATURATION_DETECTORS.map((detector) => detector.measure(empty, LIMITS))).toEqual([0, 1, 1]);
  });

  it('suggests the nearest name', () => {
    expect(() => saturationDetector('utilisation')).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_SATURATION_DETECTOR',
        place: '--saturation-detector',
        hint: expect.stringContaining("did you mean 'utilization'?"),
      }),
    );
  });
});
