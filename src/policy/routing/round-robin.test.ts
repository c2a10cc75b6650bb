import { expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { createExplanation } from '../explanation.js';
import { createFleetView } from '../fleet-view.js';
import { createRequestFeatures } from '../request-features.js';
import { roundRobin } from './round-robin.js';

const request = createRequestFeatures(3);

it('takes replicas in turn', () => {
  const picker = roundRobin.create({}, { random: randomStream(1, 'x'), replicas: 3 });
  const view = createFleetView(3);
  expect(Array.from({ length: 7 }, () => picker.pick(request, view))).toEqual([0, 1, 2, 0, 1, 2, 0]);
});

it('counts decisions, not replicas: the turn is the count modulo those eligible now', () => {
  const picker = roundRobin.create({}, { random: randomStream(1, 'x'), replicas: 3 });
  const view = createFleetView(3);
  picker.pick(request, view);
  picker.pick(request, view);
  view.eligible[0] = 0;
  expect([picker.pick(request, view), picker.pick(request, view)]).toEqual([1, 2]);
});

it('keeps the turn while no replica is eligible, and explains it', () => {
  const picker = roundRobin.create({}, { random: randomStream(1, 'x'), replicas: 3 });
  const view = createFleetView(3);
  picker.pick(request, view);
  view.eligible.fill(0);
  const why = createExplanation(3);
  expect(picker.pick(request, view, why)).toBe(-1);
  expect(why.rule).toBe('no replica is eligible');
  view.eligible.fill(1);
  expect(picker.pick(request, view, why)).toBe(1);
  expect(why).toMatchObject({ rule: 'its turn', scored: false });
});
