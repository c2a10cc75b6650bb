import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sourceIdOf } from '../request-table.js';
import { anyTrace, type MadeRow, madeTrace, rowsOf } from './made-trace.fixture.js';
import { promptTable } from './prompt-table.js';
import { sliceTrace } from './slice-trace.js';

const seconds = (s: number) => s * 1e6;
const some = (rows: readonly MadeRow[], ...keys: (keyof MadeRow)[]) => rows.map((row) => keys.map((key) => row[key]));

describe('sliceTrace', () => {
  const trace = madeTrace([
    { at: seconds(5), session: 'a', round: 0, input: 100, output: 11 },
    { at: seconds(6), deadline: seconds(9), wanted: seconds(6) - 3 },
    { at: seconds(8), session: 'a', round: 1, input: 20, output: 5, think: 900 },
    { at: seconds(7), session: 'b', round: 0, input: 40 },
    { at: seconds(9), session: 'a', round: 2, input: 7, output: 1 },
  ]);

  it('keeps a stretch of time, its end excluded, and counts times from its beginning', () => {
    const part = sliceTrace(trace, { fromUs: seconds(1), toUs: seconds(3) })!;
    expect(some(rowsOf(part), 'id', 'at', 'wanted', 'deadline')).toEqual([
      [1, 0, 0, seconds(3)],
      [3, seconds(1), seconds(1), 0],
    ]);
  });

  it('counts from the first arrival, and moves nothing when only the end is cut', () => {
    const part = sliceTrace(trace, { toUs: seconds(2) })!;
    expect(some(rowsOf(part), 'id', 'at', 'wanted')).toEqual([
      [0, seconds(5), seconds(5)],
      [1, seconds(6), seconds(6) - 3],
    ]);
  });

  it('numbers the turns that are left from 0', () => {
    const part = sliceTrace(trace, { fromUs: seconds(2) })!;
    expect(some(rowsOf(part), 'id', 'session', 'round', 'input')).toEqual([
      [3, 'b', 0, 40],
      [2, 'a', 0, 20],
      [4, 'a', 1, 7],
    ]);
  });

  it('keeps the first requests, and the first sessions alone', () => {
    expect(some(rowsOf(sliceTrace(trace, { first: 2 })!), 'id')).toEqual([[0], [1]]);
    expect(some(rowsOf(sliceTrace(trace, { sessions: 1 })!), 'id')).toEqual([[0], [2], [4]]);
    expect(some(rowsOf(sliceTrace(trace, { fromUs: seconds(2), sessions: 1 })!), 'id')).toEqual([[3]]);
    expect(some(rowsOf(sliceTrace(trace, { sessions: 2, first: 2 })!), 'id')).toEqual([[0], [3]]);
  });

  it('is null when no request is left', () => {
    expect(sliceTrace(trace, { fromUs: seconds(100) })).toBeNull();
    expect(sliceTrace(madeTrace([{}]), { sessions: 1 })).toBeNull();
  });

  it('leaves every prompt of a growing session as long as it was', () => {
    fc.assert(
      fc.property(anyTrace, fc.nat({ max: 60_000_000 }), fc.nat({ max: 60_000_000 }), (whole, fromUs, length) => {
        const part = sliceTrace(whole, { fromUs, toUs: fromUs + length });
        if (part === null) return;
        const before = new Map(
          Array.from(whole.table.idShift, (_, row) => [
            sourceIdOf(whole.table, row),
            promptTable(whole).inputTokens[row],
          ]),
        );
        const prompts = promptTable(part);
        for (let row = 0; row < part.table.count; row++) {
          expect(prompts.inputTokens[row]).toBe(before.get(sourceIdOf(part.table, row)));
        }
        expect(part.unsorted).toBe(false);
      }),
    );
  });
});
