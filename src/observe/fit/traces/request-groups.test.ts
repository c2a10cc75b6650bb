import { describe, expect, it } from 'vitest';
import { RequestTable } from '../../../workload/request-table.js';
import { ENGINE } from '../planted.fixture.js';
import type { ObservedTrace } from './observed-trace.js';
import { groupRequests, judgedRows, meansOf, rowsToReplay } from './request-groups.js';

/** A request each 10 us that takes 25 us; prompts grow, responses shrink. */
function traceOf(requests: number): ObservedTrace {
  const table = new RequestTable(requests);
  for (let i = 0; i < requests; i++) {
    const row = table.append();
    table.arrivalUs[row] = 10 * i;
    table.inputTokens[row] = i;
    table.outputTokens[row] = requests - i;
  }
  const ttftUs = new Float64Array(requests).fill(5);
  const e2eUs = new Float64Array(requests).fill(25);
  return { name: 't', table, ttftUs, e2eUs, warmUp: 0, maxInFlight: Number.POSITIVE_INFINITY, engine: ENGINE };
}

describe('requests that are judged', () => {
  it('have latencies and are not warm-up', () => {
    const trace = { ...traceOf(20), warmUp: 3 };
    trace.ttftUs[5] = Number.NaN;
    trace.e2eUs[7] = Number.NaN;
    expect(judgedRows(trace, 10)).toEqual([3, 4, 6, 8, 9]);
  });

  it('need those replayed that arrive while they are under way', () => {
    // The tenth arrives at 90 and ends at 115.
    expect([rowsToReplay(traceOf(20), 10), rowsToReplay(traceOf(20), 19), rowsToReplay(traceOf(20), 20)]).toEqual([
      12, 20, 20,
    ]);
  });

  it('are grouped by time, prompt, response and load, without small groups', () => {
    const groups = groupRequests(traceOf(80), 80);
    expect(groups).toHaveLength(8 + 4 + 4 + 4);
    expect([...groups[0]!.rows]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // The longest responses are those of the first rows; so is the least load.
    expect(Math.max(...groups[15]!.rows)).toBe(19);
    expect(groups[16]!.rows).toContain(0);
    expect(groupRequests(traceOf(24), 24)).toHaveLength(3 * 4);
  });

  it('have a mean first token, and a mean gap over all their tokens', () => {
    const trace = traceOf(4);
    const rows = Int32Array.of(1, 2);
    expect(meansOf(trace, rows, trace.ttftUs, trace.e2eUs)).toEqual({ ttftUs: 5, itlUs: 40 / (2 + 1) });
    expect(meansOf(trace, Int32Array.of(3), trace.ttftUs, trace.e2eUs).itlUs).toBeNaN();
  });
});
