import { expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { createExplanation } from '../explanation.js';
import { createFleetView } from '../fleet-view.js';
import { createRequestFeatures } from '../request-features.js';
import { alwaysBusiest } from './always-busiest.js';

it('takes the greatest load, the first of equals, and sets no scores', () => {
  const picker = alwaysBusiest.create({}, { random: randomStream(1, 'x'), replicas: 3 });
  const view = createFleetView(3);
  view.queued.set([1, 2, 0]);
  view.running.set([0, 2, 4]);
  const why = createExplanation(3);
  expect(picker.pick(createRequestFeatures(3), view, why)).toBe(1);
  expect(why).toMatchObject({ scored: false, tied: 2, rule: 'greatest effective load' });
  expect(why.terms.names()).toEqual(['queued', 'running', 'in flight']);
});
