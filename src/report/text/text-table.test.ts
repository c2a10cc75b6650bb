import { expect, it } from 'vitest';
import { textTable } from './text-table.js';

it('aligns columns and ends lines without spaces', () => {
  const rows = [
    ['name', 'n', ''],
    ['a', '1', '█'],
    ['longer', '1,000', ''],
  ];
  expect(textTable(rows, ['left', 'right', 'left'])).toEqual(['name        n', 'a           1  █', 'longer  1,000']);
});

it('lets no name steer the terminal', () => {
  expect(textTable([['\x1b[31mred\n']], ['left'])).toEqual(['?[31mred?']);
});
