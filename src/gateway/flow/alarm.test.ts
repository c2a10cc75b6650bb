import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { timerAlarms } from './alarm.js';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

function alarmOf() {
  const rings: number[] = [];
  const alarm = timerAlarms(() => Date.now() * 1000)(() => rings.push(Date.now()));
  return { alarm, rings };
}

describe('an alarm by timers', () => {
  it('fires once, not too early, and for the latest time set', () => {
    const { alarm, rings } = alarmOf();
    alarm.set(9_000_000);
    alarm.set(2500);
    vi.advanceTimersByTime(20_000);
    expect(rings).toEqual([3]);
  });

  it('fires at once for a time in the past, and never for Infinity', () => {
    const { alarm, rings } = alarmOf();
    alarm.set(-5);
    vi.advanceTimersByTime(1);
    alarm.set(10_000);
    alarm.set(Number.POSITIVE_INFINITY);
    vi.advanceTimersByTime(100);
    expect(rings).toHaveLength(1);
  });

  it('wakes earlier when the delay is longer than a timer allows', () => {
    const { alarm, rings } = alarmOf();
    alarm.set(1e15);
    vi.advanceTimersByTime(2 ** 31);
    expect(rings).toEqual([2 ** 31 - 1]);
  });
});
