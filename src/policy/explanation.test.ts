import { expect, it } from 'vitest';
import { createExplanation, resetExplanation } from './explanation.js';

it('an explanation is empty again after a reset', () => {
  const why = createExplanation(2);
  why.scored = true;
  why.scores.set([1, 2]);
  why.terms.column('load', 2);
  why.facts.column('hits', 2);
  why.removed.set(1, 'full');
  why.tied = 2;
  why.rule = 'its turn';
  resetExplanation(why);
  expect(why).toEqual({
    scored: false,
    scores: new Float64Array([Number.NaN, Number.NaN]),
    terms: new Map(),
    facts: new Map(),
    removed: new Map(),
    tied: 0,
    rule: '',
  });
});
