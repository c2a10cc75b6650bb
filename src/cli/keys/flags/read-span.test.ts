import { describe, expect, it } from 'vitest';
import { readDay, readMoment, readSpan } from './read-span.js';

const DAY = 86_400_000;

describe('readSpan', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['90m', 5_400_000],
    [' 24h ', DAY],
    ['30d', 30 * DAY],
    ['2w', 14 * DAY],
    ['1.5h', 5_400_000],
    ['1h30m', 5_400_000],
  ])('%s', (text, ms) => {
    expect(readSpan(text, '--grace')).toBe(ms);
  });

  it.each(['', '15', '-1h', '1y', 'h', '1 h', '99999999999d'])('refuses %j', (text) => {
    expect(() => readSpan(text, '--grace')).toThrowError(expect.objectContaining({ code: 'BAD_VALUE' }));
  });
});

describe('readMoment', () => {
  it.each([
    ['never', null],
    ['1d', DAY + 5],
    ['2030-01-31', Date.UTC(2030, 0, 31)],
    ['2030-01-31T18:00Z', Date.UTC(2030, 0, 31, 18)],
    ['2030-01-31T18:00:30.5+02:00', Date.UTC(2030, 0, 31, 16, 0, 30, 500)],
  ])('%s', (text, at) => {
    expect(readMoment(text, '--expires')(5)).toBe(at);
  });

  it.each(['', 'tomorrow', '2030-02-29', '2030-01-31T18:00', '2030-01-31TZ', '2030'])('refuses %j', (text) => {
    expect(() => readMoment(text, '--expires')).toThrow('is not a time');
  });
});

describe('readDay', () => {
  it('takes days that are in the calendar', () => {
    expect(readDay(' 2028-02-29 ', '--from')).toBe('2028-02-29');
    for (const text of ['2026-02-29', '2026-2-1', '2026-01-32', '20260101']) {
      expect(() => readDay(text, '--from')).toThrow('is not a day');
    }
  });
});
