import { afterEach, expect, test, vi } from 'vitest';
import { Settling } from './settling.js';

afterEach(() => vi.useRealTimers());

test('requests wait for its end in order of arrival, at most as long as given, and not after they have left', () => {
  vi.useFakeTimers();
  const settling = new Settling(1000);
  const settled = settling.begin();
  const other = settling.begin();
  const gone: string[] = [];
  settling.hold(() => gone.push('late'));
  vi.advanceTimersByTime(999);
  expect(gone).toEqual([]);
  vi.advanceTimersByTime(1);
  expect([gone.splice(0), settling.isOn]).toEqual([['late'], true]);
  settling.hold(() => gone.push('first'));
  settling.hold(() => gone.push('left'))();
  settling.hold(() => gone.push('second'));
  other();
  other();
  expect([gone, settling.isOn]).toEqual([[], true]);
  settled();
  vi.advanceTimersByTime(2000);
  expect([gone, settling.waiting, settling.isOn]).toEqual([['first', 'second'], 0, false]);
});
