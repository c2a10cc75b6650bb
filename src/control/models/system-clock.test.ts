import { expect, it } from 'vitest';
import { systemClock } from './system-clock.js';

it('returns the time and sleeps', async () => {
  const before = systemClock.now();
  await systemClock.sleep(0);
  expect(systemClock.now()).toBeGreaterThanOrEqual(before);
});

it('calls back once, unless it is cancelled', async () => {
  const called: string[] = [];
  systemClock.after(0, () => called.push('forgotten'))();
  await new Promise<void>((resolve) => {
    systemClock.after(0, () => {
      called.push('kept');
      resolve();
    });
  });
  expect(called).toEqual(['kept']);
});

it('stops sleeping when the signal is aborted, with its reason', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const waiting = systemClock.sleep(3_600_000, controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});
