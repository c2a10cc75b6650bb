import { expect, it } from 'vitest';
import { clockOf, timeOf } from '../console/src/parts/zone-time.js';

it.each(['UTC', 'local'] as const)('a time is the same after it was shown and typed again in %s', (zone) => {
  for (const at of ['2030-01-31T12:00:00.000Z', '2030-07-31T23:59:59.000Z'])
    expect(timeOf(clockOf(new Date(at), zone), zone)).toBe(at);
});

it('a clock in UTC shows UTC, and what is not a time is none', () => {
  expect(clockOf(new Date('2030-01-31T12:00:00Z'), 'UTC')).toBe('2030-01-31T12:00:00.000');
  expect(timeOf('', 'local')).toBeNull();
});
