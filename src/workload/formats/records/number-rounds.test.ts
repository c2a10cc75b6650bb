import { describe, expect, it } from 'vitest';
import { RequestTable } from '../../request-table.js';
import { numberRounds, pausesAfterResponses } from './number-rounds.js';

/** Rows as session and time; an empty session is none. */
function tableOf(rows: readonly [string, number][]): RequestTable {
  const table = new RequestTable();
  for (const [chat, timeUs] of rows) {
    const row = table.append();
    table.session[row] = table.sessions.index(chat);
    table.arrivalUs[row] = timeUs;
  }
  return table;
}
const rounds = (table: RequestTable) => [...table.round.subarray(0, table.count)];

describe('numberRounds', () => {
  it('numbers the turns of each session by time, in any order of the file', () => {
    const table = tableOf([
      ['a', 30],
      ['b', 5],
      ['', 1],
      ['a', 10],
      ['a', 20],
      ['b', 4],
    ]);
    expect([...numberRounds(table, null)]).toEqual([3, 4, 0, 5, 1]);
    expect(rounds(table)).toEqual([2, 1, 0, 0, 1, 0]);
  });

  it('sorts by recorded turns first, then time, then the file', () => {
    const table = tableOf([
      ['a', 10],
      ['a', 30],
      ['a', 20],
      ['a', 20],
    ]);
    numberRounds(table, [7, 1, 3, 3]);
    expect(rounds(table)).toEqual([3, 0, 1, 2]);
  });

  it('has nothing to do without sessions', () => {
    const table = tableOf([['', 1]]);
    expect(numberRounds(table, null).length).toBe(0);
    expect(rounds(table)).toEqual([0]);
  });
});

describe('pausesAfterResponses', () => {
  it('counts from the end of the response before, and not below 0', () => {
    const table = tableOf([
      ['a', 10],
      ['b', 12],
      ['a', 50],
      ['a', 60],
    ]);
    const pauses = pausesAfterResponses(table, numberRounds(table, null), [25, 100, 70, 90]);
    expect([...pauses]).toEqual([0, 0, 25, 0]);
  });
});
