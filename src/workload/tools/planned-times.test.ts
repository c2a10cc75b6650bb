import { describe, expect, it } from 'vitest';
import { OBSERVED_OUTCOMES } from '../observed.js';
import type { Trace } from '../trace.js';
import { madeTrace, rowsOf } from './made-trace.fixture.js';
import { atPlannedTimes, hasPlannedTimes, unknownCapNote } from './planned-times.js';
import { replayedTrace } from './replayed-trace.js';

const REAL = { mode: 'real' } as const;

/** Sent later than planned, the last two in another order. */
const late = () =>
  madeTrace(
    [
      { at: 5, wanted: 5 },
      { at: 900, wanted: 40, deadline: 1000 },
      { at: 800, wanted: 30 },
    ],
    REAL,
  );

/** An observed trace of requests of a second each, of which the client kept `cap` in flight. */
function capped(cap: number, count = 40): Trace {
  const trace = madeTrace(
    Array.from({ length: count }, (_, i) => ({ wanted: 1000 * i, at: 1000 * i + 1_000_000 * Math.floor(i / cap) })),
    REAL,
  );
  const all = <T>(make: (n: number) => T) => make(count);
  return {
    ...trace,
    observed: {
      dispatchUs: all((n) => new Float64Array(n)),
      ttftUs: all((n) => new Float64Array(n).fill(1000)),
      e2eUs: all((n) => new Float64Array(n).fill(999_000)),
      cachedTokens: all((n) => new Int32Array(n)),
      outcome: all((n) => new Uint8Array(n).fill(OBSERVED_OUTCOMES.indexOf('ok'))),
    },
  };
}

describe('planned times', () => {
  it('put requests in order of when they were due; deadlines move along', () => {
    const trace = late();
    expect(rowsOf(atPlannedTimes(trace)).map(({ id, at, deadline }) => [id, at, deadline])).toEqual([
      ...[
        [0, 5, 0],
        [2, 30, 0],
        [1, 40, 140],
      ],
    ]);
    expect(rowsOf(trace).map(({ at }) => at)).toEqual([5, 900, 800]);
  });

  it('are those of observed traces that have them: elsewhere the send time is all there is', () => {
    expect(hasPlannedTimes(late())).toBe(true);
    expect(hasPlannedTimes({ ...late(), header: { ...late().header, mode: 'replayed' } })).toBe(false);
    const sent = late();
    expect(hasPlannedTimes({ ...sent, wantedUs: sent.table.arrivalUs })).toBe(false);
  });

  it('come with a note on how many requests were in flight, where the client held some back', () => {
    expect(unknownCapNote(capped(8))).toContain(
      '32 of 40 requests were sent up to 4.0 s after their planned time, with at most 8 in flight',
    );
    expect(unknownCapNote(capped(8))).toContain('give --max-in-flight 8');
    expect(unknownCapNote(capped(40))).toBeNull();
    const known = capped(8);
    expect(unknownCapNote({ ...known, header: { ...known.header, maxInFlight: 8 } })).toBeNull();
  });
});

describe('a replayed trace', () => {
  it('arrives at planned times unless send times are wanted, and says which', () => {
    const planned = replayedTrace(late(), {});
    expect([planned.arrivalTimes, planned.trace.table.arrivalUs[1]]).toEqual(['planned', 30]);
    const sent = replayedTrace(late(), { arrivalTimes: 'sent' });
    expect([sent.arrivalTimes, sent.trace.table.arrivalUs[1]]).toEqual(['sent', 900]);
    expect(replayedTrace(madeTrace([{}]), {}).arrivalTimes).toBeNull();
  });

  it('has the cap of its header, another one, or none', () => {
    const trace = () => madeTrace([{}], { ...REAL, maxInFlight: 7 });
    expect(
      [{}, { maxInFlight: 3 }, { maxInFlight: 0 }].map((options) => replayedTrace(trace(), options).maxInFlight),
    ).toEqual([...[7, 3, undefined]]);
    expect(replayedTrace(capped(8), {}).notes).toHaveLength(1);
    expect(replayedTrace(capped(8), { maxInFlight: 8 }).notes).toEqual([]);
    expect(replayedTrace(capped(8), { arrivalTimes: 'sent' }).notes).toEqual([]);
  });

  it('has the time-outs that are given, from the arrivals that are used', () => {
    const deadlines = (options: object) => rowsOf(replayedTrace(late(), options).trace).map(({ deadline }) => deadline);
    expect(deadlines({ timeoutUs: 100 })).toEqual([105, 130, 140]);
    expect(deadlines({ timeoutUs: 0 })).toEqual([0, 0, 0]);
    expect(deadlines({})).toEqual([0, 0, 140]);
  });
});
