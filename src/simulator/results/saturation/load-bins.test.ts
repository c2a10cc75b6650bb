import fc from 'fast-check';
import { expect, it } from 'vitest';
import { loadBins } from './load-bins.js';

it('spreads a response over the time in which it is generated', () => {
  const times = { arrivalUs: [0, 25], ttftUs: [10, 0], e2eUs: [30, 0] };
  const { arrivals, served, inFlight, generating, binUs } = loadBins(times, 0, 40, 4, 40);
  expect(binUs).toBe(10);
  expect([...arrivals]).toEqual([1, 0, 1, 0]);
  expect([...inFlight]).toEqual([1, 1, 1, 0]);
  expect([...generating]).toEqual([0, 1, 1, 0]);
  expect([...served]).toEqual([0, 0.5, 1.5, 0]);
});

it('keeps requests that never end in flight until the end of the run', () => {
  const times = { arrivalUs: [0], ttftUs: [Number.NaN], e2eUs: [Number.NaN] };
  const { inFlight, generating } = loadBins(times, 0, 40, 4, 30);
  expect([...inFlight]).toEqual([1, 1, 1, 0]);
  expect([...generating]).toEqual([0, 0, 0, 0]);
});

it('serves every request once in the span of the whole run', () => {
  const request = fc.tuple(fc.nat(1000), fc.nat(500), fc.nat(500));
  fc.assert(
    fc.property(fc.array(request, { minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 50 }), (list, bins) => {
      const times = {
        arrivalUs: list.map(([at]) => at),
        ttftUs: list.map(([, ttft]) => ttft),
        e2eUs: list.map(([, ttft, rest]) => ttft + rest),
      };
      const { served, arrivals } = loadBins(times, 0, 2001, bins, 2001);
      const total = (values: Float64Array) => values.reduce((a, b) => a + b, 0);
      expect(total(served)).toBeCloseTo(list.length, 6);
      expect(total(arrivals)).toBe(list.length);
    }),
  );
});
