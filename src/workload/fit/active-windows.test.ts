import { describe, expect, it } from 'vitest';
import { activeUntil, activeWindows } from './active-windows.js';
import { range } from './block-trace.fixture.js';

const evenly = (from: number, to: number, count: number) =>
  range(0, count).map((i) => from + ((to - from) * (i + 0.5)) / count);

describe('activeWindows', () => {
  it('covers the whole trace when sessions begin at any time', () => {
    expect(activeWindows(Float64Array.from(evenly(0, 1e6, 100)), 1e6, 0)).toEqual({
      windows: [{ start_us: 0, end_us: 1e6 }],
      activeUs: 1e6,
    });
    expect(activeWindows(Float64Array.of(500), 1e6, 0).activeUs).toBe(1e6);
  });

  it('ends early when all sessions begin early', () => {
    const { windows, activeUs } = activeWindows(Float64Array.from(evenly(0, 4e5, 100)), 1e6, 0);
    expect(windows).toHaveLength(1);
    expect(activeUs).toBeCloseTo(4e5, -2);
  });

  it('leaves out long pauses', () => {
    const begins = Float64Array.from([
      ...evenly(0, 1e5, 100),
      ...evenly(5e7, 5.01e7, 100),
      ...evenly(9e7, 9.01e7, 100),
    ]);
    const { windows, activeUs } = activeWindows(begins, 1e8, 0);
    expect(windows).toEqual([
      { start_us: 0, end_us: 100_000 },
      { start_us: 5e7, end_us: 5.01e7 },
      { start_us: 9e7, end_us: 9.01e7 },
    ]);
    expect(activeUs).toBe(300_000);
  });

  it('does not take the ticks of a coarse clock for pauses', () => {
    const begins = Float64Array.from({ length: 3000 }, (_, i) => Math.floor(i / 30) * 3e6);
    expect(activeWindows(begins, 3e8, 3e6).windows).toEqual([{ start_us: 0, end_us: 3e8 }]);
    expect(activeWindows(begins, 3e8, 0).windows).toHaveLength(100);
  });

  it('does not take a late start for a pause', () => {
    const begins = Float64Array.from([...evenly(5e7, 5.01e7, 100), ...evenly(9e7, 9.01e7, 100)]);
    expect(activeWindows(begins, 1e8, 0).windows).toEqual([{ start_us: 0, end_us: 1e8 }]);
  });
});

it('activeUntil counts the active time so far', () => {
  const windows = {
    windows: [
      { start_us: 0, end_us: 10 },
      { start_us: 20, end_us: 40 },
    ],
    activeUs: 30,
  };
  expect([-5, 0, 5, 15, 20, 30, 99].map((atUs) => activeUntil(windows, atUs))).toEqual([0, 0, 5, 10, 10, 20, 30]);
});
