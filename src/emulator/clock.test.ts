import { EventEmitter, once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { WallClock } from './clock.js';

describe('an alarm', () => {
  test.each([0, 100, 1900, 5000, 12_345])('fires after %i us, not before', async (delay) => {
    const clock = new WallClock(1);
    const bell = new EventEmitter();
    const at = clock.nowUs() + delay;
    clock.alarm(at, () => bell.emit('ring', clock.nowUs()));
    const [rangUs] = await once(bell, 'ring');
    // Short waits end with a tick of the timer, which counts whole milliseconds.
    if (delay >= 2000) expect(rangUs).toBeGreaterThanOrEqual(at);
  });

  test('is as much earlier as the clock is faster', async () => {
    const clock = new WallClock(1000);
    const bell = new EventEmitter();
    clock.alarm(clock.nowUs() + 10_000_000, () => bell.emit('ring', clock.nowUs()));
    const started = performance.now();
    await once(bell, 'ring');
    expect(performance.now() - started).toBeGreaterThanOrEqual(9);
  });

  test('replaces the one before; Infinity never fires', async () => {
    const clock = new WallClock(1);
    const rung: string[] = [];
    const bell = new EventEmitter();
    clock.alarm(clock.nowUs() + 1000, () => rung.push('first'));
    clock.alarm(Number.POSITIVE_INFINITY, () => rung.push('never'));
    const other = new WallClock(1);
    other.alarm(other.nowUs() + 1000, () => rung.push('early'));
    other.alarm(other.nowUs() + 6000, () => bell.emit('ring'));
    await once(bell, 'ring');
    expect(rung).toEqual([]);
  });

  test('set twice for the same time calls only the last callback, once', async () => {
    const clock = new WallClock(1);
    const rung: string[] = [];
    const bell = new EventEmitter();
    const at = clock.nowUs() + 3000;
    clock.alarm(at, () => rung.push('first'));
    clock.alarm(at, () => {
      rung.push('second');
      bell.emit('ring');
    });
    await once(bell, 'ring');
    expect(rung).toEqual(['second']);
  });
});
