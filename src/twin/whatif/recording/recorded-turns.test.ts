import { describe, expect, it } from 'vitest';
import { linkResponses } from '../../../workload/sessions/link-responses.js';
import { type Recorded, record, tokens } from '../../../workload/sessions/recorded-chats.fixture.js';
import { RecordedTurnDriver, recordedTurns } from './recorded-turns.js';

/** Microseconds of a response. */
const E2E = 300_000;

function turnsOf(requests: readonly Recorded[]) {
  const trace = record(requests.map((one) => ({ e2e: E2E, ...one })));
  linkResponses(trace);
  return { ...trace, turns: recordedTurns(trace) };
}

/** Prompts that share nothing. */
const request = (at: number, session?: string): Recorded => ({
  ...{ at, prompt: tokens(40), response: tokens(40) },
  ...(session === undefined ? {} : { session }),
});

describe('recorded turns', () => {
  it('of a session follow the response before them, a pause after it', () => {
    const { turns } = turnsOf([request(0, 'a'), request(100_000, 'b'), request(1e6, 'a'), request(5e6, 'b')]);
    expect(Array.from(turns!.next)).toEqual([2, 3, -1, -1]);
    expect(Array.from(turns!.pauseUs)).toEqual([Number.NaN, Number.NaN, 1e6 - E2E, 5e6 - 100_000 - E2E]);
  });

  it('are not the overlapping requests of one user, beside sessions that are conversations', () => {
    const user = [0, 100_000, 200_000].map((at) => request(at, 'user'));
    expect(turnsOf(user).turns).toBeNull();
    const { turns } = turnsOf([...user, request(300_000, 'a'), request(2e6, 'a')]);
    expect(Array.from(turns!.next)).toEqual([-1, -1, -1, 4, -1]);
  });

  it('without sessions are prompts that repeat a prompt and its response, as cached tokens show', () => {
    const system = tokens(64);
    const turnsIn = (begins: number) => {
      const first = { at: begins, prompt: [...system, ...tokens(40)], response: tokens(50) };
      const whole = [...first.prompt, ...first.response];
      const second = {
        at: begins + 3e6,
        prompt: [...whole, ...tokens(40)],
        response: tokens(50),
        cached: whole.length - 1,
      };
      return [first, second];
    };
    const [a, b] = [turnsIn(0), turnsIn(1e6)];
    const anonymous = [a[0]!, b[0]!, a[1]!, b[1]!];
    const { turns } = turnsOf(anonymous);
    expect(Array.from(turns!.next)).toEqual([2, 3, -1, -1]);
    expect(turns!.pauseUs[2]).toBe(3e6 - E2E);
    // The same prefix in every prompt, and nothing else.
    const hot = tokens(64);
    const shared = [0, 1e6, 2e6].map((at) => ({
      at,
      prompt: [...hot, ...tokens(9)],
      response: tokens(40),
      cached: 64,
    }));
    expect(turnsOf(shared).turns).toBeNull();
  });

  it('arrive after the response that they get now, with their own blocks', () => {
    const { table, turns } = turnsOf([request(0, 'a'), request(1e6, 'a'), request(2e6)]);
    const driver = new RecordedTurnDriver(table, turns!);
    const run = driver.firstTurns();
    expect([run.count, Array.from(driver.records.subarray(0, 2))]).toEqual([2, [0, 2]]);
    const next = driver.left(run, 0, true, 900_000, Number.POSITIVE_INFINITY);
    expect([next, run.arrivalUs[next], driver.records[next]]).toEqual([2, 900_000 + 1e6 - E2E, 1]);
    expect(run.blocks!.block(next, 0)).toBe(table.blocks!.block(1, 0));
    expect(driver.left(run, next, true, 4e6, Number.POSITIVE_INFINITY)).toBe(-1);
    // By a schedule it arrives when it was recorded, and never before that response.
    const scheduled = new RecordedTurnDriver(table, { ...turns!, isScheduled: true });
    const [early, late] = [900_000, 1_200_000].map((atUs) => {
      const own = scheduled.firstTurns();
      return own.arrivalUs[scheduled.left(own, 0, true, atUs, Number.POSITIVE_INFINITY)];
    });
    expect([early, late]).toEqual([1e6, 1_200_000]);
    // A request that was refused has no response to follow, and none comes after the end of a run.
    expect(driver.left(driver.firstTurns(), 0, false, 900_000, Number.POSITIVE_INFINITY)).toBe(-1);
    expect(driver.left(driver.firstTurns(), 0, true, 900_000, 1e6)).toBe(-1);
  });
});
