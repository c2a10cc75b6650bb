import { expect, test } from 'vitest';
import { createExplanation, resetExplanation } from './explanation.js';

test('an explanation is empty again after a reset', () => {
  const why = createExplanation(2);
  why.scored = true;
  why.scores.fill(7);
  why.terms.column('load', 2);
  why.facts.column('hits', 2);
  why.removed.set(1, 'full');
  why.tied = 2;
  why.rule = 'its turn';
  resetExplanation(why);
  expect([why.scored, why.tied, why.rule, why.removed.size]).toEqual([false, 0, '', 0]);
  expect([why.terms.names(), why.facts.names()]).toEqual([[], []]);
  expect(why.scores).toEqual(Float64Array.of(Number.NaN, Number.NaN));
});
