import { expect, it } from 'vitest';
import { createFleetView, type FleetView } from '../fleet-view.js';
import { createRequestFeatures } from '../request-features.js';
import { flipCandidates } from './flip-candidates.js';
import { flipSignals } from './flip-signals.js';

/** The least loaded of those that may be chosen. */
const leastLoaded = (view: FleetView) => () => {
  let best = -1;
  for (let slot = 0; slot < view.size; slot++) {
    if (view.eligible[slot] === 1 && (best < 0 || view.inFlight[slot]! < view.inFlight[best]!)) best = slot;
  }
  return best;
};

function fleet(size: number): FleetView {
  const view = createFleetView(size);
  for (let slot = 0; slot < size; slot++) {
    view.inFlight[slot] = 100 + slot;
    view.queued[slot] = (slot * 7) % size;
  }
  return view;
}

function candidates(view: FleetView) {
  const signals = flipSignals(['inFlight', 'queued'], createRequestFeatures(view.size), view);
  return flipCandidates(view, leastLoaded(view)(), signals, leastLoaded(view));
}

it('are all eligible replicas of a fleet that is not large', () => {
  const view = fleet(32);
  view.eligible[3] = 0;
  const found = candidates(view);
  expect(found.eligible).toBe(31);
  expect(found.slots).toEqual(Array.from({ length: 32 }, (_, slot) => slot).filter((slot) => slot !== 3));
});

it('are the chosen one, its successors and the extremes of each signal in a large fleet', () => {
  const view = fleet(1000);
  view.eligible[1] = 0;
  // The least and the greatest of both signals, apart from the first four.
  view.queued[500] = -1;
  view.queued[600] = 5000;
  view.inFlight[700] = 9000;
  const before = structuredClone(view);
  const found = candidates(view);
  expect(found).toEqual({ slots: [0, 2, 3, 4, 5, 500, 600, 700], eligible: 999 });
  expect(view).toEqual(before);
});

it('end with the last replica that can be chosen', () => {
  const view = fleet(1000);
  view.eligible.fill(0, 9);
  const picks = [0, 1, -1];
  const found = flipCandidates(view, picks.shift()!, [], () => picks.shift()!);
  expect(found).toEqual({ slots: [0, 1, 2, 3, 4, 5, 6, 7], eligible: 9 });
  expect([...view.eligible.slice(0, 9)]).toEqual(Array(9).fill(1));
});
