import { expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.js';

test.each([
  [undefined, 0],
  ['', 0],
  ['soon', 0],
  ['-3', 0],
  ['0', 0],
  ['3', 3000],
  ['86400', 60_000],
  ['9'.repeat(400), 60_000],
  ['Sun, 15 Nov 2026 12:00:05 GMT', 5000],
  ['Sun, 15 Nov 2026 11:59:59 GMT', 0],
])('retry-after %s is a pause of %i ms', (header, pauseMs) => {
  expect(retryAfterMs(header, Date.UTC(2026, 10, 15, 12))).toBe(pauseMs);
});
