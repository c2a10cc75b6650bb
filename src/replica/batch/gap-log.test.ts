import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writtenOut } from '../fake-replica.fixture.js';
import { GapLog } from './gap-log.js';

const gaps = (log: GapLog) => writtenOut(log.counts());

function recordAll(log: GapLog, durations: readonly number[], oldest = Number.POSITIVE_INFINITY): void {
  for (const us of durations) {
    if (log.isFull) log.makeRoom(oldest);
    log.record(us);
  }
}

describe('GapLog', () => {
  it('gives a request the durations of the steps it claims', () => {
    const log = new GapLog();
    recordAll(log, [5, 7, 9]);
    log.claim(1, 3);
    expect(gaps(log)).toEqual([7, 9]);
  });

  it('counts a step once per request that claims it', () => {
    const log = new GapLog();
    recordAll(log, [5, 7, 9]);
    log.claim(0, 2);
    log.claim(1, 3);
    expect(gaps(log)).toEqual([5, 7, 7, 9]);
  });

  it('drops steps that no request claims', () => {
    const log = new GapLog();
    recordAll(log, [5, 7, 9]);
    expect(gaps(log)).toEqual([]);
  });

  it('takes an empty range for no gap at all', () => {
    const log = new GapLog();
    recordAll(log, [5]);
    log.claim(1, 1);
    expect(gaps(log)).toEqual([]);
  });

  it('numbers steps on and on, folded or not', () => {
    const log = new GapLog();
    recordAll(log, new Array<number>(10_000).fill(1));
    expect(log.nextStep).toBe(10_000);
  });

  it('keeps steps that a running request may still claim, however many follow', () => {
    const log = new GapLog();
    recordAll(log, [3, 4]);
    recordAll(log, new Array<number>(20_000).fill(1), 1);
    log.claim(1, 3);
    expect(gaps(log)).toEqual([1, 4]);
  });

  it('keeps claims that reach from folded steps into later ones', () => {
    const log = new GapLog();
    recordAll(log, new Array<number>(4000).fill(2));
    log.claim(0, 4000);
    recordAll(log, new Array<number>(4000).fill(3), 4000);
    log.claim(4000, 8000);
    expect(gaps(log)).toEqual([...Array<number>(4000).fill(2), ...Array<number>(4000).fill(3)]);
  });

  it('adds up to the naive list for any requests over thousands of steps', () => {
    const request = fc.record({ pause: fc.nat(3000), length: fc.nat(5000) });
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 8 }), (requests) => {
        let start = 0;
        const ranges = requests.map(({ pause, length }) => {
          start += pause;
          return { from: start, to: start + length };
        });
        const steps = Math.max(...ranges.map(({ to }) => to));
        const duration = (step: number) => 1 + ((step * 7919) % 97);
        const log = new GapLog();
        const expected = new Map<number, number>();
        for (let step = 0; step <= steps; step++) {
          for (const { from, to } of ranges) if (to === step) log.claim(from, to);
          if (step === steps) break;
          const open = ranges.filter(({ from, to }) => from <= step && to > step);
          if (log.isFull) log.makeRoom(Math.min(...open.map(({ from }) => from)));
          log.record(duration(step));
          if (open.length > 0) expected.set(duration(step), (expected.get(duration(step)) ?? 0) + open.length);
        }
        const actual = new Map<number, number>();
        for (const us of gaps(log)) actual.set(us, (actual.get(us) ?? 0) + 1);
        expect(actual).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });
});
