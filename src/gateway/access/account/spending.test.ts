import { expect, it } from 'vitest';
import { dayOf, monthOf, Spending } from './spending.js';

const second = (text: string) => Date.parse(text) / 1000;

it('knows days and months by UTC', () => {
  const noon = second('2024-02-29T12:00:00Z');
  expect(dayOf(noon)).toEqual({ start: second('2024-02-29T00:00:00Z'), end: second('2024-03-01T00:00:00Z') });
  expect(monthOf(noon)).toEqual({ start: second('2024-02-01T00:00:00Z'), end: second('2024-03-01T00:00:00Z') });
  expect(monthOf(second('2025-12-31T23:59:59Z')).end).toBe(second('2026-01-01T00:00:00Z'));
});

it('resets with the period, not a second before', () => {
  const day = new Spending(dayOf);
  day.advance(second('2026-05-01T10:00:00Z'));
  day.add(day.start, 100, 7);
  day.advance(second('2026-05-01T23:59:59Z'));
  expect([day.tokens, day.nanos]).toEqual([100, 7]);
  day.advance(second('2026-05-02T00:00:00Z'));
  expect([day.tokens, day.nanos]).toEqual([0, 0]);
});

it('refunds only bookings of this period, and never below zero', () => {
  const day = new Spending(dayOf);
  const [evening, morning] = [second('2026-05-01T23:59:00Z'), second('2026-05-02T00:01:00Z')];
  day.advance(morning);
  day.add(morning, 50, 5);
  day.add(evening, -40, -4);
  expect([day.tokens, day.nanos]).toEqual([50, 5]);
  // What yesterday's request used beyond its estimate is spent today.
  day.add(evening, 10, 1);
  expect([day.tokens, day.nanos]).toEqual([60, 6]);
  day.add(morning, -100, -100);
  expect([day.tokens, day.nanos]).toEqual([0, 0]);
});

it('keeps what was spent when the clock is set back', () => {
  const day = new Spending(dayOf);
  day.advance(second('2026-05-02T00:01:00Z'));
  day.add(day.start, 50, 5);
  day.advance(second('2026-04-02T00:01:00Z'));
  expect([day.tokens, day.end]).toEqual([50, second('2026-04-03T00:00:00Z')]);
});

it('is raised to a larger count of the same period from elsewhere', () => {
  const day = new Spending(dayOf);
  day.advance(second('2026-05-02T00:01:00Z'));
  day.add(day.start, 50, 5);
  day.raise(day.start, 40, 9);
  expect([day.tokens, day.nanos]).toEqual([50, 9]);
  day.raise(day.start - 86_400, 400, 90);
  expect([day.tokens, day.nanos]).toEqual([50, 9]);
  day.clear();
  expect([day.tokens, day.nanos, day.start, day.end]).toEqual([0, 0, 0, 0]);
});
