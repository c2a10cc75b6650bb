import { describe, expect, it } from 'vitest';
import { type RequestTable, ROW_FOLLOW_UP, ROW_GROWS_CONTEXT, requestId } from '../request-table.js';
import type { ClientSpec, MultiTurnSpec, WorkloadSpec } from '../spec/workload-spec.js';
import type { Workload } from '../workload.js';
import { generateSpecWorkload } from './generate-spec-workload.js';
import { client, cohort, column, fixed, rowsFrom, rowsOf, specOf, spread } from './test-spec.fixture.js';

const NEVER = Number.POSITIVE_INFINITY;
const steady = { arrival: { process: 'constant' } } as const;

function chats(multi_turn: MultiTurnSpec, more: Partial<ClientSpec> = {}, spec: Partial<WorkloadSpec> = {}): Workload {
  const talk = client('talk', { ...steady, reasoning: { multi_turn }, ...more });
  return generateSpecWorkload(specOf([talk], { aggregate_rate: 1, ...spec }), { seed: 42 });
}

const turnsOf = (table: RequestTable, session: number) => rowsOf(table).filter((row) => table.session[row] === session);

describe('sessions with set times', () => {
  const open = { closed_loop: false };

  it('send each turn a pause after a response of a microsecond per token', () => {
    const { table, sessions } = chats({ max_rounds: 3, think_time_us: 400_000 }, open, { num_requests: 6 });
    expect(sessions).toBeUndefined();
    expect(column(rowsOf(table), table.arrivalUs)).toEqual([1e6, 1_400_010, 1_800_020, 2e6, 2_400_010, 2_800_020]);
    expect(column(rowsOf(table), table.round)).toEqual([0, 1, 2, 0, 1, 2]);
    expect(table.sessions.names()).toEqual(['', 'talk/chat_0', 'talk/chat_1']);
    expect(requestId(table, 1)).toBe('request_1');
    expect(table.deadlineUs[0]).toBe(301e6);
    expect(table.flags[0]).toBe(0);
    expect(table.contextTokens).toEqual([0, 0, 0]);
    expect(column(rowsOf(table), table.inputTokens)).toEqual(Array(6).fill(100));
  });

  it('include earlier turns when their context grows, and know their final length', () => {
    const { table } = chats(
      { max_rounds: 3, think_time_us: 1000, context_growth: 'accumulate', input_distribution: fixed(5) },
      { ...open, prefix_group: 'p', prefix_length: 32 },
      { num_requests: 3 },
    );
    expect(column(rowsOf(table), table.inputTokens)).toEqual([132, 132 + 9 + 5, 146 + 9 + 5]);
    expect(table.contextTokens).toEqual([0, 132 + 10 + 5 + 10 + 5 + 10]);
    expect(column(rowsOf(table), table.flags)).toEqual(Array(3).fill(ROW_GROWS_CONTEXT));
    expect(column(rowsOf(table), table.prefixGroup)).toEqual([1, 1, 1]);
  });

  it('draw rounds, pauses and lengths session by session', () => {
    const { table } = chats(
      {
        max_rounds: 6,
        rounds_distribution: { type: 'empirical', params: { 1: 1, 2: 1, 9: 1 } },
        think_time_distribution: { type: 'exponential', params: { mean: 50_000 } },
        context_growth: 'accumulate',
      },
      { ...open, input_distribution: spread, output_distribution: spread },
      { horizon: 100e6 },
    );
    const rounds = new Map<number, number>();
    for (let session = 1; session < table.sessions.size; session++) {
      const turns = turnsOf(table, session);
      // The horizon may cut the last ones.
      if (table.arrivalUs[turns[0]!]! > 95e6) continue;
      rounds.set(turns.length, (rounds.get(turns.length) ?? 0) + 1);
      const last = turns.at(-1)!;
      // Everything but the tokens that no turn repeats: the last one of every response that has a next turn.
      expect(table.contextTokens[session]).toBe(
        table.inputTokens[last]! + table.outputTokens[last]! + turns.length - 1,
      );
    }
    expect([...rounds.keys()].sort()).toEqual([1, 2, 6]);
    expect(Math.min(...rounds.values())).toBeGreaterThan(15);
  });

  it('end with the workload, in the middle of a session', () => {
    expect(chats({ max_rounds: 3, think_time_us: 400_000 }, open, { num_requests: 2 }).table.count).toBe(2);
    expect(chats({ max_rounds: 9, think_time_us: 400_000 }, open, { horizon: 1.5e6 }).table.count).toBe(2);
  });

  it('stay below the largest possible length', () => {
    const grow = () =>
      chats({ max_rounds: 3, context_growth: 'accumulate' }, { ...open, input_distribution: fixed(1e9) });
    expect(grow).toThrow("client 'talk': a session of 3 turns grows to 3000000030 tokens, more than 2147483647");
  });
});

describe('one session for each client', () => {
  it('begins at the first arrival, or at a set time, and is the only one', () => {
    const once = chats({ max_rounds: 2, think_time_us: 5, single_session: true }, { closed_loop: false });
    expect(column(rowsOf(once.table), once.table.arrivalUs)).toEqual([1e6, 1_000_015]);
    const talk = { multi_turn: { max_rounds: 2, single_session: true, start_us: 70 } };
    const crowd = cohort('crowd', 3, { closed_loop: false, reasoning: talk });
    const { table } = generateSpecWorkload({ version: '2', cohorts: [crowd] }, { seed: 42 });
    expect(column(rowsOf(table), table.arrivalUs)).toEqual([70, 70, 70, 80, 80, 80]);
  });
});

describe('sessions that wait for responses', () => {
  it('create their next turn when one completes', () => {
    const { table, sessions } = chats({ max_rounds: 3, think_time_us: 1000 }, {}, { num_requests: 6 });
    expect(column(rowsOf(table), table.arrivalUs)).toEqual([1e6, 2e6]);
    const second = sessions!.left(table, 0, true, 1_500_000, NEVER);
    expect(requestId(table, second)).toBe('session_talk/chat_0_round_1_1');
    expect([table.arrivalUs[second], table.round[second], table.flags[second]]).toEqual([1_501_000, 1, ROW_FOLLOW_UP]);
    expect(table.deadlineUs[second]).toBe(301_501_000);
    const third = sessions!.left(table, second, true, 2_000_000, NEVER);
    expect(sessions!.left(table, third, true, 3_000_000, NEVER)).toBe(-1);
  });

  it('end with a loss, at the horizon, and when there are enough requests', () => {
    const { table, sessions } = chats({ max_rounds: 5 }, {}, { num_requests: 7, horizon: 10e6 });
    expect(table.count).toBe(2);
    expect(sessions!.left(table, 0, false, 1_500_000, NEVER)).toBe(-1);
    expect(sessions!.left(table, 1, true, 10e6 + 1, NEVER)).toBe(-1);
    expect(sessions!.left(table, 1, true, 9e6, 8e6)).toBe(-1);
    let row = 1;
    for (let turn = 1; turn < 2; turn++) row = sessions!.left(table, row, true, 9e6, NEVER);
    expect(sessions!.left(table, row, true, 9e6, NEVER)).toBe(-1);
  });

  it('are the same in any order', () => {
    const growing: MultiTurnSpec = {
      max_rounds: 4,
      context_growth: 'accumulate',
      think_time_distribution: { type: 'exponential', params: { mean: 5000 } },
      input_distribution: spread,
    };
    const lengths = (order: number[]) => {
      const { table, sessions } = chats(
        growing,
        { input_distribution: spread, output_distribution: spread },
        { num_requests: 8 },
      );
      const last = [0, 1];
      for (const chat of order) last[chat] = sessions!.left(table, last[chat]!, true, 5e6, NEVER);
      return [1, 2].map((session) => {
        const turns = turnsOf(table, session);
        return [column(turns, table.inputTokens), column(turns, table.outputTokens), column(turns, table.arrivalUs)];
      });
    };
    expect(lengths([0, 0, 0, 1, 1, 1])).toEqual(lengths([1, 0, 1, 0, 1, 0]));
  });

  it('leave other requests alone', () => {
    const talk = client('talk', { ...steady, reasoning: { multi_turn: { max_rounds: 2 } } });
    const open = client('open', { ...steady, closed_loop: false, reasoning: { multi_turn: { max_rounds: 2 } } });
    const { table, sessions } = generateSpecWorkload(specOf([talk, client('single', steady), open]), { seed: 42 });
    expect(sessions!.left(table, rowsFrom(table, 'single')[0]!, true, 5e6, NEVER)).toBe(-1);
    expect(sessions!.left(table, rowsFrom(table, 'open')[0]!, true, 5e6, NEVER)).toBe(-1);
    expect(sessions!.left(table, rowsFrom(table, 'talk')[0]!, true, 5e6, NEVER)).toBeGreaterThan(0);
  });

  it('show images in every turn unless later turns have their own distribution', () => {
    const multimodal = { image_distribution: fixed(500) };
    const turns = (later: Partial<MultiTurnSpec>) => {
      const { table } = chats({ max_rounds: 2, ...later }, { multimodal, closed_loop: false }, { num_requests: 2 });
      return [column([0, 1], table.inputTokens), column([0, 1], table.kinds!.image)];
    };
    expect(turns({})).toEqual([
      [600, 600],
      [500, 500],
    ]);
    expect(turns({ input_distribution: fixed(20), context_growth: 'accumulate' })).toEqual([
      [600, 629],
      [500, 0],
    ]);
  });
});

describe('users', () => {
  it('send only while they are active', () => {
    const windows = [
      { start_us: 100, end_us: 200 },
      { start_us: 500, end_us: 600 },
    ];
    const users = client('users', { concurrency: 2, think_time_us: 50, lifecycle: { windows } });
    const { table, sessions } = generateSpecWorkload({ version: '2', clients: [users] }, { seed: 42 });
    expect(column(rowsOf(table), table.arrivalUs)).toEqual([100, 125]);
    const next = sessions!.left(table, 0, true, 120, NEVER);
    const later = sessions!.left(table, next, true, 190, NEVER);
    expect([table.arrivalUs[next], table.arrivalUs[later]]).toEqual([170, 500]);
    expect(sessions!.left(table, later, true, 560, NEVER)).toBe(-1);
  });

  it('stop at the horizon of the workload', () => {
    const users = client('users', { concurrency: 1 });
    const { table, sessions } = generateSpecWorkload({ version: '2', clients: [users], horizon: 1000 }, { seed: 42 });
    expect(sessions!.left(table, 0, true, 1001, NEVER)).toBe(-1);
    expect(sessions!.left(table, 0, true, 1000, NEVER)).toBe(1);
  });
});
