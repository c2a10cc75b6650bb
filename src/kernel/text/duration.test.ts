import { describe, expect, it } from 'vitest';
import { parseDuration } from './duration.js';

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['1500ns', 1.5],
    ['300us', 300],
    ['300µs', 300],
    ['300μs', 300],
    ['.5ms', 500],
    ['1.5s', 1_500_000],
    ['10m', 600_000_000],
    ['1h', 3_600_000_000],
    ['1h30m', 5_400_000_000],
    ['1m30s', 90_000_000],
    ['2d', 172_800_000_000],
    ['1w', 604_800_000_000],
  ])('reads %s as %d microseconds', (text, us) => {
    expect(parseDuration(text)).toBe(us);
  });

  it.each(['', '5', 's', '-5s', '5 s', '5s3', '1y', '1e3s', '1h 30m', '5S', '00'])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });
});
