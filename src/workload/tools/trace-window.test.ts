import { describe, expect, it } from 'vitest';
import { madeTrace } from './made-trace.fixture.js';
import { traceWindow } from './trace-window.js';

const rows = (count: number) => Array.from({ length: count }, (_, i) => ({ at: 1000 + i * 10 }));
const arrivals = (window: { from: number; to: number }) => {
  const part = traceWindow(madeTrace(rows(10)), window);
  return part === null ? null : [...part.table.arrivalUs.subarray(0, part.table.count)];
};

describe('traceWindow', () => {
  it('takes a share of the requests and counts time from its first', () => {
    expect(arrivals({ from: 0, to: 0.3 })).toEqual([0, 10, 20]);
    expect(arrivals({ from: 0.3, to: 0.5 })).toEqual([0, 10]);
  });

  it('gives every request to exactly one of adjacent windows', () => {
    const windows = [0, 1, 2, 3].map((i) => arrivals({ from: i / 4, to: (i + 1) / 4 })!.length);
    expect(windows.reduce((sum, count) => sum + count)).toBe(10);
  });

  it('is null for a window without requests', () => {
    expect(arrivals({ from: 0.5, to: 0.5 })).toBeNull();
    expect(arrivals({ from: 0.01, to: 0.02 })).toBeNull();
  });
});
