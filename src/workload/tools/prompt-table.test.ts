import { describe, expect, it } from 'vitest';
import { ROW_GROWS_CONTEXT } from '../request-table.js';
import { closedLoopWorkload } from '../sessions/trace-session-driver.js';
import { madeTrace } from './made-trace.fixture.js';
import { promptTable, traceGrowsContext } from './prompt-table.js';

const grows = { sessionContextGrowth: 'accumulate' };
const chat = [
  { at: 10, session: 'a', round: 0, group: 'g', prefix: 64, input: 64 + 100, output: 20 },
  { at: 20, session: 'a', round: 1, group: 'g', prefix: 64, input: 64 + 30, output: 0 },
  { at: 30, session: 'a', round: 2, group: 'g', prefix: 64, input: 64 + 5, output: 7 },
  { at: 40, input: 50 },
];

describe('promptTable', () => {
  it('is the table itself where nothing grows', () => {
    for (const trace of [madeTrace(chat), madeTrace([{ input: 5 }], grows)]) {
      expect(promptTable(trace)).toBe(trace.table);
    }
  });

  it('puts the whole session so far before what a row adds', () => {
    const trace = madeTrace(chat, grows);
    const table = promptTable(trace);
    expect([...table.inputTokens]).toEqual([164, 164 + 19 + 30, 213 + 5, 50]);
    expect([...trace.table.inputTokens]).toEqual([164, 94, 69, 50]);
    expect([...table.flags].map((flags) => flags === ROW_GROWS_CONTEXT)).toEqual([true, true, true, false]);
    expect(table.contextTokens[1]).toBe(64 + 135 + 27);
  });

  it('has the prompts that a closed loop would create', () => {
    const trace = madeTrace(chat, grows);
    const { table, sessions } = closedLoopWorkload(trace, null);
    const made = [0];
    for (let row = 0; row >= 0; ) {
      row = sessions!.left(table, row, true, table.arrivalUs[row]! + 1, Number.POSITIVE_INFINITY);
      if (row >= 0) made.push(row);
    }
    expect(made.map((row) => table.inputTokens[row])).toEqual([...promptTable(trace).inputTokens.subarray(0, 3)]);
    expect(promptTable(trace).contextTokens[1]).toBe(table.contextTokens[1]);
  });

  it('names the place of an invalid session', () => {
    expect(() => traceGrowsContext(madeTrace(chat, { sessionContextGrowth: 'acumulate' }))).toThrow(
      "made.yaml (session_context_growth): unknown value 'acumulate'; write 'accumulate'",
    );
    expect(() => promptTable(madeTrace([chat[0]!, { ...chat[1]!, round: 3 }], grows))).toThrow(
      "made.csv:3 (round_index): session 'a' has a round 3 but no round 1",
    );
    const huge = { ...chat[0]!, input: 2 ** 31 - 1 };
    expect(() => promptTable(madeTrace([huge, chat[1]!], grows))).toThrow(
      "made.csv:2 (session_id): session 'a' grows beyond 2147483647 tokens",
    );
  });
});
