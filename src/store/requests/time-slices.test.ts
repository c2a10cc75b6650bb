import { expect, it } from 'vitest';
import { timeSlices } from './time-slices.js';

it('covers the range once from the latest to the earliest, in pieces as wide as the time allows', async () => {
  const pieces: [number, number][] = [];
  let nowMs = 0;
  await timeSlices(
    100,
    1_000_000,
    async (from, to) => {
      pieces.push([from, to]);
      // Slow in the middle, fast elsewhere.
      nowMs += to < 700_000 && to > 400_000 ? 8 : 0.1;
      return true;
    },
    () => nowMs,
  );
  expect(pieces[0]![1]).toBe(1_000_000);
  expect(pieces.at(-1)![0]).toBe(100);
  for (const [i, [from]] of pieces.slice(0, -1).entries()) expect(pieces[i + 1]![1]).toBe(from);
  const widths = pieces.map(([from, to]) => to - from);
  expect(widths[1]).toBe(2 * widths[0]!);
  expect(Math.min(...widths.slice(1, -1))).toBeLessThan(Math.max(...widths) / 4);
});

it('ends when a piece was enough', async () => {
  let pieces = 0;
  await timeSlices(0, 1_000_000, async () => ++pieces < 3);
  expect(pieces).toBe(3);
});
