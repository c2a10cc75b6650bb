import { expect, test } from 'vitest';
import { UtcDay } from './usage-journal.js';

test('days change at midnight, in both directions', () => {
  const epochMs = Date.UTC(2026, 1, 28, 23, 59, 59);
  const day = new UtcDay(epochMs * 1000);
  expect(day.of(0)).toBe('2026-02-28');
  expect(day.of(999_999)).toBe('2026-02-28');
  expect(day.of(1_000_000)).toBe('2026-03-01');
  expect(day.of(86_400_999_999)).toBe('2026-03-01');
  expect(day.of(86_401_000_000)).toBe('2026-03-02');
  expect(day.of(0)).toBe('2026-02-28');
  expect(new UtcDay(0).of(0)).toBe('1970-01-01');
});
