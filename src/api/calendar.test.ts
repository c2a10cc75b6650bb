import { describe, expect, it } from 'vitest';
import { isDay, readTime } from './calendar.js';

describe('isDay', () => {
  it.each(['2030-01-31', '2028-02-29', '1970-01-01'])('%s exists', (text) => expect(isDay(text)).toBe(true));
  it.each(['2030-02-30', '2029-02-29', '2030-13-01', '2030-00-10', '2030-1-1', '20300131', '', '2030-01-31T00:00Z'])(
    '%j does not',
    (text) => expect(isDay(text)).toBe(false),
  );
});

describe('readTime', () => {
  it.each([
    ['1970-01-01T00:00:01Z', 1000],
    ['1970-01-01T00:00:00.5Z', 500],
    ['1970-01-02', 86_400_000],
    ['1970-01-01T02:00+02:00', 0],
  ])('%s is %i', (text, ms) => expect(readTime(text)).toBe(ms));
  it.each(['', 'soon', '2030-02-30T00:00:00Z', '2030-01-31T25:00:00Z', '2030-01-31T00:00:00', '1e9', '1893456000000'])(
    '%j is not a time',
    (text) => expect(readTime(text)).toBeNull(),
  );
});
