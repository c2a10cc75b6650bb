import { expect, it } from 'vitest';
import { IsoTime } from './iso-time.js';

it('writes what Date writes', () => {
  const iso = new IsoTime();
  for (const ms of [0, 999, 1000, 1_700_000_000_123, 1_700_000_000_999, 1_700_000_001_000, 1_700_000_000_007, 999.9]) {
    expect(iso.text(ms)).toBe(new Date(Math.floor(ms)).toISOString());
  }
});
