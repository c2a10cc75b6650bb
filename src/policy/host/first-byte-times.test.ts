import { describe, expect, it } from 'vitest';
import { FirstByteTimes } from './first-byte-times.js';

function learned(size: number, times: readonly number[], into = new FirstByteTimes()): FirstByteTimes {
  for (const tookUs of times) into.observe(0, size, tookUs);
  return into;
}
const alike = (tookUs: number, count: number) => Array.from({ length: count }, () => tookUs);

describe('FirstByteTimes', () => {
  it('expects nothing before it has observed enough', () => {
    expect(new FirstByteTimes().expectedUs(0, 100)).toBeNaN();
    expect(learned(100, alike(500, 7)).expectedUs(0, 100)).toBeNaN();
    const times = learned(100, [...alike(500, 7), 900]);
    expect([times.expectedUs(0, 100), times.expectedUs(1, 100)]).toEqual([900, Number.NaN]);
  });

  it('expects larger prompts to take longer in proportion, and smaller ones at most as long', () => {
    const times = learned(128, alike(500, 8));
    expect([times.expectedUs(0, 1280), times.expectedUs(0, 16), times.expectedUs(0, 0)]).toEqual([5000, 500, 500]);
    expect(times.expectedUs(0, 1e12)).toBeGreaterThan(1e9);
  });

  it('follows the 95th percentile: one outlier moves it by a fifth, a change within some dozen observations', () => {
    const times = learned(100, alike(1000, 100));
    const before = times.expectedUs(0, 100);
    learned(100, [60_000_000], times);
    expect(times.expectedUs(0, 100)).toBeLessThan(1.25 * before);
    learned(100, alike(20_000, 20), times);
    expect(times.expectedUs(0, 100)).toBeGreaterThan(15_000);
    learned(100, alike(1000, 400), times);
    expect(times.expectedUs(0, 100)).toBeLessThan(1300);
    const mixed = learned(
      100,
      Array.from({ length: 4000 }, (_, i) => (i % 100 < 90 ? 1000 : 2000)),
    );
    expect(mixed.expectedUs(0, 100)).toBeGreaterThan(1700);
  });
});
