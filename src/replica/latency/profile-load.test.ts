import { expect, it } from 'vitest';
import { GpuLoad } from './profile-load.js';

it('follows what the GPU computes, and forgets two thirds of it in its time', () => {
  const load = new GpuLoad({ tokenUs: 10, overUs: 1000 });
  expect(load.share).toBe(0);
  load.add(100, 1000);
  expect(load.share).toBeCloseTo(1 - Math.exp(-1), 12);
  load.add(0, 1000);
  expect(load.share).toBeCloseTo((1 - Math.exp(-1)) * Math.exp(-1), 12);
  for (let i = 0; i < 100; i++) load.add(40, 1000);
  expect(load.share).toBeCloseTo(0.4, 12);
});

it('falls when the GPU is idle, as fast as under almost no work', () => {
  const load = new GpuLoad({ tokenUs: 10, overUs: 1000 });
  load.add(100, 1000);
  const { share } = load;
  load.rest(500);
  load.rest(500);
  expect(load.share).toBeCloseTo(share * Math.exp(-1), 12);
  load.rest(Number.POSITIVE_INFINITY);
  expect(load.share).toBe(0);
});

it('is never more than full', () => {
  const load = new GpuLoad({ tokenUs: 10, overUs: 1000 });
  expect(load.steady(1000, 1000)).toBe(1);
  expect(load.steady(50, 1000)).toBe(0.5);
});
