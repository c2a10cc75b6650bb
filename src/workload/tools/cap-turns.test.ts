import { describe, expect, it } from 'vitest';
import { capTurns } from './cap-turns.js';
import { madeTrace, rowsOf } from './made-trace.fixture.js';

const ids = (trace: Parameters<typeof rowsOf>[0]) => rowsOf(trace).map(({ id }) => id);

describe('capTurns', () => {
  it('keeps the first turns of every session and requests outside sessions, in order of time', () => {
    const trace = madeTrace([
      { at: 50, session: 'a', round: 2 },
      { at: 10, session: 'a', round: 0 },
      { at: 40 },
      { at: 30, session: 'a', round: 1 },
      { at: 20, session: 'b', round: 0 },
    ]);
    const capped = capTurns(trace, 2);
    expect(ids(capped)).toEqual([1, 4, 3, 2]);
    expect(capped.unsorted).toBe(false);
    expect(rowsOf(capped).map(({ round }) => round)).toEqual([0, 0, 1, 0]);
  });

  it('sorts by turn first, regardless of time', () => {
    const trace = madeTrace([
      { at: 10, session: 'a', round: 5 },
      { at: 20, session: 'a', round: 1 },
      { at: 30, session: 'a', round: 3 },
    ]);
    expect(ids(capTurns(trace, 2))).toEqual([1, 2]);
  });

  it('sorts by time among equal turns, and by place in the file among equal times', () => {
    const trace = madeTrace([
      { at: 30, session: 'a', round: 1 },
      { at: 20, session: 'a', round: 1 },
      { at: 20, session: 'a', round: 1 },
    ]);
    expect(ids(capTurns(trace, 1))).toEqual([1]);
    expect(ids(capTurns(trace, 2))).toEqual([1, 2]);
  });

  it('changes nothing where no session is that long', () => {
    const rows = Array.from({ length: 8 }, (_, round) => ({ at: round, session: 'a', round }));
    const trace = madeTrace(rows);
    expect(rowsOf(capTurns(trace, 8))).toEqual(rowsOf(trace));
    expect(ids(capTurns(trace, 7))).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});
