import { expect, test } from 'vitest';
import { createExplanation, NamedColumns, resetExplanation } from './explanation.js';

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

test('keeps columns by name, in order, and their arrays after clear', () => {
  const columns = new NamedColumns();
  const load = columns.column('load', 2);
  load.set([1, 2]);
  columns.column('hits', 3);
  expect([columns.size, columns.names(), columns.name(1), columns.at(1).length]).toEqual([
    2,
    ['load', 'hits'],
    'hits',
    3,
  ]);
  expect(columns.column('load', 2)).toBe(load);
  expect(columns.get('load')).toBe(load);
  columns.clear();
  expect([columns.size, columns.names(), columns.get('load')]).toEqual([0, [], undefined]);
  expect(columns.column('other', 2)).toBe(load);
  expect(columns.column('longer', 9)).toHaveLength(9);
});
