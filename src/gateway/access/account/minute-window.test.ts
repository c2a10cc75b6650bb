import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MinuteWindow, WINDOW_SECONDS } from './minute-window.js';

const START = 1_800_000_000;

describe('a window of a minute', () => {
  it('counts a second until a whole minute has passed since its end', () => {
    const window = new MinuteWindow();
    window.advance(START);
    window.add(START, 3);
    window.advance(START + 60);
    expect(window.total).toBe(3);
    window.advance(START + 61);
    expect(window.total).toBe(0);
  });

  it('agrees with a plain list over any operations', () => {
    const steps = fc.array(
      fc.record({ pause: fc.oneof(fc.nat(3), fc.nat(200)), age: fc.nat(80), amount: fc.integer({ min: -5, max: 20 }) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, fc.nat(50), (taken, most) => {
        const window = new MinuteWindow();
        const plain = new Map<number, number>();
        const totalAt = (second: number) =>
          [...plain].reduce((sum, [at, count]) => (at > second - WINDOW_SECONDS ? sum + count : sum), 0);
        let now = START;
        for (const { pause, age, amount } of taken) {
          now += pause;
          window.advance(now);
          window.add(now - age, amount);
          if (age < WINDOW_SECONDS) plain.set(now - age, Math.max(0, (plain.get(now - age) ?? 0) + amount));
          expect(window.total).toBe(totalAt(now));
          expect(window.toArray().reduce((sum, count) => sum + count)).toBe(window.total);
          let wait = 0;
          while (totalAt(now + wait) > most) wait++;
          expect(window.secondsUntil(most)).toBe(wait);
        }
      }),
    );
  });

  it('does not follow a clock that goes back a little', () => {
    const window = new MinuteWindow();
    window.advance(START);
    window.add(START, 2);
    window.advance(START - 30);
    expect([window.second, window.total]).toEqual([START, 2]);
    window.add(START - 30, 1);
    expect(window.total).toBe(3);
  });

  it('counts everything as new when the clock was set back by more', () => {
    const window = new MinuteWindow();
    window.advance(START);
    window.add(START, 2);
    window.advance(START - 3600);
    window.add(START, 1);
    expect([window.second, window.total, window.secondsUntil(0)]).toEqual([START - 3600, 3, WINDOW_SECONDS]);
  });

  it('merges the counts of another gateway, and counts nothing twice', () => {
    const [mine, theirs] = [new MinuteWindow(), new MinuteWindow()];
    mine.advance(START);
    mine.add(START - 1, 5);
    theirs.advance(START + 10);
    theirs.add(START - 1, 4);
    theirs.add(START - 45, 2);
    theirs.add(START - 51, 7);
    theirs.add(START + 10, 1);
    mine.absorb(theirs.second, theirs.toArray());
    expect([mine.second, mine.total]).toEqual([START + 10, 5 + 2 + 1]);
    mine.absorb(theirs.second, theirs.toArray());
    expect(mine.total).toBe(8);
    theirs.absorb(mine.second - 5, [9]);
    expect(theirs.total).toBe(4 + 2 + 1 + 9);
  });
});
