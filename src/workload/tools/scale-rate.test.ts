import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyTrace, madeTrace, rowsOf } from './made-trace.fixture.js';
import { scaleRate } from './scale-rate.js';

describe('scaleRate', () => {
  it('brings starts closer together and keeps distances inside sessions', () => {
    const trace = madeTrace([
      { at: 1000 },
      { at: 1100, session: 'a', round: 0 },
      { at: 1200, session: 'a', round: 1 },
      { at: 1300, deadline: 1350, wanted: 1290 },
      { at: 1400, session: 'b', round: 0 },
    ]);
    const scaled = rowsOf(scaleRate(trace, 2)!);
    expect(scaled.map(({ id, at }) => [id, at])).toEqual([
      [0, 1000],
      [1, 1050],
      [2, 1150],
      [3, 1150],
      [4, 1200],
    ]);
    expect(scaled[3]).toMatchObject({ deadline: 1200, wanted: 1140 });
    const slower = rowsOf(scaleRate(trace, 0.5)!);
    expect(slower.map(({ id, at }) => [id, at])).toEqual([
      [0, 1000],
      [1, 1200],
      [2, 1300],
      [3, 1600],
      [4, 1800],
    ]);
  });

  it('restores order of time, and keeps requests and distances inside sessions for any trace', () => {
    fc.assert(
      fc.property(anyTrace, fc.constantFrom(0.3, 1, 2, 17), (trace, factor) => {
        const before = new Map(rowsOf(trace).map((row) => [row.id, row]));
        const scaled = scaleRate(trace, factor)!;
        expect(scaled.unsorted).toBe(false);
        const starts = new Map<string, number>();
        for (const { at, id, session } of rowsOf(scaled)) {
          const old = before.get(id)!;
          if (session === '') continue;
          if (!starts.has(session)) starts.set(session, at - old.at);
          expect(at - old.at).toBe(starts.get(session));
        }
        expect(
          rowsOf(scaled)
            .map(({ id }) => id)
            .sort(),
        ).toEqual([...before.keys()].sort());
        if (factor === 1) expect(rowsOf(scaled).every(({ at, id }) => before.get(id)!.at === at)).toBe(true);
      }),
    );
  });

  it('is null when times grow too large', () => {
    expect(scaleRate(madeTrace([{ at: 0 }, { at: 1e12 }]), 1e-6)).toBeNull();
  });
});
