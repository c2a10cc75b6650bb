import { describe, expect, it } from 'vitest';
import { type RequestTable, ROW_FOLLOW_UP, ROW_GROWS_CONTEXT, ROW_STREAMING, requestId } from '../request-table.js';
import type { Trace } from '../trace.js';
import { BASE_COLUMNS } from '../trace-v2/data/layout.js';
import { readTraceData } from '../trace-v2/data/read-data.js';
import { closedLoopWorkload } from './trace-session-driver.js';

interface Turn {
  session?: string;
  round?: number;
  input?: number;
  output?: number;
  at?: number;
  think?: number;
  group?: string;
  prefix?: number;
  server?: number;
  tenant?: string;
  streaming?: boolean;
}

function traceOf(turns: Turn[], growth = ''): Trace {
  const rows = turns.map((turn, id) => {
    const { session = '', round = 0, group = '', prefix = 0, input = 10, output = 5, at = 100 * (id + 1) } = turn;
    const { server = 0, think = '', tenant = 't', streaming = false } = turn;
    return `${id},c,${tenant},batch,${session},${round},${group},${prefix},${streaming},${input},${output},0,0,0,0,0,m,0,${server},${at},${at + 7},0,0,0,ok,,,${think}`;
  });
  const text = [[...BASE_COLUMNS, 'think_time_us'].join(','), ...rows].join('\n');
  const place = (key: string) => `t.yaml:1:1 (${key})`;
  const header = { mode: 'generated', sessionContextGrowth: growth, goodputTargets: {}, place } as const;
  return { format: 'trace-v2', header, ...readTraceData(Buffer.from(text), 't.csv', false) };
}

const ids = (table: RequestTable) => Array.from({ length: table.count }, (_, row) => requestId(table, row));

describe('closedLoopWorkload', () => {
  it('starts with the first turn of each session, then the requests outside sessions', () => {
    const { table } = closedLoopWorkload(
      traceOf([
        {},
        { session: 'b', round: 1 },
        { session: 'a', round: 0 },
        { session: 'b', round: 0 },
        {},
        { session: 'a', round: 1 },
      ]),
      null,
    );
    expect(ids(table)).toEqual(['request_3', 'request_2', 'request_0', 'request_4']);
    expect(table.arrivalUs[0]).toBe(407);
    expect(table.flags[0]).toBe(0);
  });

  it('creates the next turn when one completes', () => {
    const trace = traceOf([
      { session: 'a', group: 'g', prefix: 40, tenant: 'first' },
      { session: 'a', round: 1, group: 'g', input: 20, output: 6, tenant: 'second', streaming: true },
      { session: 'a', round: 2, group: 'g', input: 30, output: 7 },
    ]);
    const { table, sessions } = closedLoopWorkload(trace, null);
    const second = sessions!.left(table, 0, true, 1_000_000, Number.POSITIVE_INFINITY);
    const third = sessions!.left(table, second, true, 2_000_000, Number.POSITIVE_INFINITY);
    expect(ids(table)).toEqual(['request_0', 'session_a_round_1_1', 'session_a_round_2_2']);
    expect(sessions!.left(table, third, true, 3_000_000, Number.POSITIVE_INFINITY)).toBe(-1);

    expect([...table.arrivalUs.subarray(0, 3)]).toEqual([107, 1_000_100, 2_000_100]);
    expect(table.deadlineUs[second]).toBe(301_000_100);
    expect([...table.inputTokens.subarray(0, 3)]).toEqual([50, 60, 70]);
    expect([...table.outputTokens.subarray(0, 3)]).toEqual([5, 6, 7]);
    expect([...table.outputTokens.subarray(0, 3)]).toEqual([5, 6, 7]);
    expect(table.flags[second]).toBe(ROW_FOLLOW_UP | ROW_STREAMING);
    for (const column of ['tenant', 'sloClass', 'model', 'client', 'prefixGroup', 'session'] as const) {
      expect(table[column][second]).toBe(table[column][0]);
      expect(table[column][second]).toBeGreaterThan(0);
    }
    expect(table.tenants.name(table.tenant[third]!)).toBe('first');
  });

  it('repeats the whole session but its last output token where context grows', () => {
    const trace = traceOf(
      [
        { session: 'a', group: 'g', prefix: 40, input: 10, output: 5 },
        { session: 'a', round: 1, group: 'g', input: 20, output: 0 },
        { session: 'a', round: 2, group: 'g', input: 30, output: 1 },
        { session: 'a', round: 3, group: 'g', input: 40, output: 9 },
        { input: 3 },
      ],
      'accumulate',
    );
    const { table, sessions } = closedLoopWorkload(trace, null);
    let row = 0;
    for (let turn = 1; turn < 4; turn++) row = sessions!.left(table, row, true, 1e6 * turn, Number.POSITIVE_INFINITY);
    const turns = [0, 2, 3, 4];
    expect(turns.map((turn) => table.inputTokens[turn])).toEqual([50, 50 + 4 + 20, 74 + 30, 104 + 40]);
    expect(turns.map((turn) => table.flags[turn]! & ROW_GROWS_CONTEXT)).toEqual(Array(4).fill(ROW_GROWS_CONTEXT));
    expect(table.flags[1]).toBe(0);
    expect(table.contextTokens[table.session[0]!]).toBe(40 + 100 + 15);
    expect(table.contextTokens[table.session[0]!]).toBeGreaterThanOrEqual(144 + 9);
  });

  it("takes the server's count of a turn's input", () => {
    const { table, sessions } = closedLoopWorkload(
      traceOf([{ session: 'a' }, { session: 'a', round: 1, input: 20, server: 23 }]),
      null,
    );
    expect(table.inputTokens[sessions!.left(table, 0, true, 0, 1e9)]).toBe(23);
  });

  it('ends a session whose turn is lost, and one whose next turn is too late', () => {
    const { table, sessions } = closedLoopWorkload(
      traceOf([
        { session: 'a' },
        { session: 'a', round: 1 },
        { session: 'b' },
        { session: 'b', round: 1, at: 900 },
        {},
      ]),
      null,
    );
    expect(sessions!.left(table, 0, false, 1000, Number.POSITIVE_INFINITY)).toBe(-1);
    expect(sessions!.left(table, 1, true, 1000, 1599)).toBe(-1);
    expect(sessions!.left(table, 2, true, 1000, Number.POSITIVE_INFINITY)).toBe(-1);
    expect(table.count).toBe(3);
    expect(sessions!.left(table, 1, true, 1000, 1600)).toBe(3);
  });

  it.each([
    ['recorded ones of the session, zeros too', [undefined, 50, 0], null, [1050, 2000]],
    ['gaps between arrivals, never negative, where none is recorded', [99, 0, undefined], null, [1300, 2000]],
    ['drawn ones, where a distribution is given', [undefined, 50, 60], () => 7, [1007, 2007]],
  ])('pauses for %s', (_, [first, second, third], thinkTime, arrivals) => {
    const turn = (round: number, at: number, think: number | undefined): Turn => ({
      session: 'a',
      round,
      at,
      ...(think === undefined ? {} : { think }),
    });
    const trace = traceOf([turn(0, 100, first), turn(1, 400, second), turn(2, 250, third)]);
    const { table, sessions } = closedLoopWorkload(trace, thinkTime);
    const next = sessions!.left(table, 0, true, 1000, 1e9);
    const last = sessions!.left(table, next, true, 2000, 1e9);
    expect([table.arrivalUs[next], table.arrivalUs[last]]).toEqual(arrivals);
  });

  it('draws the same pauses in any order of sessions', () => {
    const turns: Turn[] = ['a', 'b'].flatMap((session) => [{ session }, { session, round: 1 }]);
    const pausesWhen = (rows: number[]) => {
      let drawn = 0;
      const { table, sessions } = closedLoopWorkload(traceOf(turns), () => ++drawn);
      const pauses = rows.map((row) => [row, table.arrivalUs[sessions!.left(table, row, true, 0, 1e9)]]);
      return Object.fromEntries(pauses);
    };
    expect(pausesWhen([1, 0])).toEqual(pausesWhen([0, 1]));
  });

  it('leaves the trace unchanged, so that it can be replayed again', () => {
    const trace = traceOf([{ session: 'a' }, { session: 'a', round: 1 }]);
    for (let again = 0; again < 2; again++) {
      const { table, sessions } = closedLoopWorkload(trace, null);
      expect(requestId(table, sessions!.left(table, 0, true, 0, 1e9))).toBe('session_a_round_1_1');
    }
    expect(trace.table.count).toBe(2);
  });

  it.each<[string, Turn[], string, string]>([
    [
      'a missing round',
      [{ session: 'a' }, { session: 'a', round: 2 }],
      't.csv:3:',
      "session 'a' has a round 2 but no round 1",
    ],
    [
      'no first round',
      [{ session: 'x' }, { session: 'b', round: 1 }],
      't.csv:3:',
      "session 'b' has a round 1 but no round 0",
    ],
    [
      'a round twice',
      [{ session: 'a' }, { session: 'a' }],
      't.csv:3:',
      "session 'a' has round 0 twice, first at t.csv:2:",
    ],
  ])('names the place of %s', (_, turns, place, problem) => {
    expect(() => closedLoopWorkload(traceOf(turns), null)).toThrowError(
      expect.objectContaining({
        code: 'SESSION_INVALID',
        place: expect.stringMatching(new RegExp(`^${place}\\d+ \\(round_index\\)$`)),
        problem: expect.stringContaining(problem),
      }),
    );
  });

  it('refuses an unknown kind of growth', () => {
    expect(() => closedLoopWorkload(traceOf([{}], 'shrink'), null)).toThrowError(
      expect.objectContaining({ place: 't.yaml:1:1 (session_context_growth)', problem: "unknown value 'shrink'" }),
    );
  });

  it('refuses a session that grows beyond what can be counted', () => {
    const turns = [0, 1].map((round) => ({ session: 'a', round, input: 2 ** 30, output: 2 ** 30 }));
    expect(() => closedLoopWorkload(traceOf(turns, 'accumulate'), null)).toThrowError(
      expect.objectContaining({ code: 'SESSION_INVALID', problem: expect.stringContaining('4294967296 tokens') }),
    );
    expect(() => closedLoopWorkload(traceOf(turns), null)).not.toThrow();
  });
});
