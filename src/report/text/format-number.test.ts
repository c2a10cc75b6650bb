import { expect, it } from 'vitest';
import { counted, decimal, percent, wholeNumber } from './format-number.js';

it('groups thousands', () => {
  expect([wholeNumber(0), wholeNumber(999), wholeNumber(1000), wholeNumber(1234567.4)]).toEqual([
    '0',
    '999',
    '1,000',
    '1,234,567',
  ]);
  expect([decimal(1234.567), decimal(-1234.5, 1), decimal(0.5, 0)]).toEqual(['1,234.57', '-1,234.5', '1']);
});

it('writes shares as percent', () => {
  expect([percent(0), percent(0.1234), percent(1)]).toEqual(['0.0 %', '12.3 %', '100.0 %']);
});

it('writes singular and plural', () => {
  expect([counted(1, 'instance'), counted(0, 'instance'), counted(2000, 'instance')]).toEqual([
    '1 instance',
    '0 instances',
    '2,000 instances',
  ]);
});
