import { expect, it } from 'vitest';
import { NamedColumns } from './named-columns.js';

it('keeps columns by name, in order, and their arrays after clear', () => {
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
