import { expect, it } from 'vitest';
import { RandomIds } from './random-ids.js';

it('returns unique hex ids, also when its bytes run out', () => {
  const ids = new RandomIds();
  const traces = Array.from({ length: 1000 }, () => ids.traceId());
  const spans = Array.from({ length: 1000 }, () => ids.spanId());
  for (const id of traces) expect(id).toMatch(/^[\da-f]{32}$/);
  for (const id of spans) expect(id).toMatch(/^[\da-f]{16}$/);
  expect(new Set([...traces, ...spans]).size).toBe(2000);
  expect(new Set(traces.map((id) => id.slice(0, 16))).size).toBe(1000);
});

it('returns fractions', () => {
  const ids = new RandomIds();
  const fractions = Array.from({ length: 1000 }, () => ids.fraction());
  expect(Math.min(...fractions)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...fractions)).toBeLessThan(1);
  // A collision is practically impossible.
  expect(fractions.filter((one) => one < 0.5).length).toBeGreaterThan(100);
  expect(fractions.filter((one) => one >= 0.5).length).toBeGreaterThan(100);
});
