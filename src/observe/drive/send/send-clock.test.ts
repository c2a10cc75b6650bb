import { describe, expect, it } from 'vitest';
import { MachineClock } from './send-clock.js';

describe('MachineClock', () => {
  it('wakes when it is time and not before', async () => {
    const clock = new MachineClock();
    const at = clock.nowUs() + 5000;
    await new Promise<void>((resolve) => clock.alarm(at, resolve));
    expect(clock.nowUs()).toBeGreaterThanOrEqual(at);
  });

  it('wakes at once when it is late already', () => {
    let isAwake = false;
    new MachineClock().alarm(0, () => {
      isAwake = true;
    });
    expect(isAwake).toBe(true);
  });

  it('has one alarm at a time', async () => {
    const clock = new MachineClock();
    const woken: string[] = [];
    clock.alarm(clock.nowUs() + 1000, () => woken.push('replaced'));
    clock.alarm(clock.nowUs() + 3000, () => woken.push('replaced, too'));
    await new Promise<void>((resolve) => clock.alarm(clock.nowUs() + 6000, resolve));
    clock.alarm(clock.nowUs() + 100, () => woken.push('cancelled'));
    clock.cancel();
    await new Promise<void>((resolve) => new MachineClock().alarm(2000, resolve));
    expect(woken).toEqual([]);
  });

  it('waits longer than a timer can', () => {
    const clock = new MachineClock();
    clock.alarm(1e13, () => expect.unreachable());
    clock.cancel();
  });
});
