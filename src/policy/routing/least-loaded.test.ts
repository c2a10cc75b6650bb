import { expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { createExplanation } from '../explanation.js';
import { createFleetView } from '../fleet-view.js';
import { createRequestFeatures } from '../request-features.js';
import { leastLoaded } from './least-loaded.js';

const request = createRequestFeatures(4);

it('adds up queued, running and in-flight requests, and takes the first of equals', () => {
  const picker = leastLoaded.create({ tie_break: 'first' }, { random: randomStream(1, 'x'), replicas: 4 });
  const view = createFleetView(4);
  view.queued.set([5, 1, 0, 0]);
  view.running.set([0, 1, 3, 0]);
  view.inFlight.set([0, 1, 0, 9]);
  expect(picker.pick(request, view)).toBe(1);
});

it('shows minus the load as score, and its parts', () => {
  const picker = leastLoaded.create({ tie_break: 'first' }, { random: randomStream(1, 'x'), replicas: 3 });
  const view = createFleetView(3);
  view.queued.set([1, 0, 2]);
  view.inFlight.set([1, 2, 0]);
  view.eligible[2] = 0;
  const why = createExplanation(3);
  expect(picker.pick(request, view, why)).toBe(0);
  expect(Array.from(why.scores)).toEqual([-2, -2, Number.NaN]);
  expect(Array.from(why.terms.get('in flight')!)).toEqual([-1, -2, Number.NaN]);
  expect(why).toMatchObject({ scored: true, tied: 2, rule: 'least effective load' });
});
