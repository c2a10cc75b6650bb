import { describe, expect, it } from 'vitest';
import { measured, predicted } from '../fake-requests.fixture.js';
import { compareFailures, failureNote } from './compare-failures.js';

const lost = { ttftUs: Number.NaN, e2eUs: Number.NaN };

describe('failures', () => {
  it('are counted on both sides, by kind', () => {
    const failures = compareFailures([
      [measured(0), predicted(0, { status: 'completed' })],
      [measured(1, { completed: false, timedOut: true }), predicted(1, { status: 'timed_out', ...lost })],
      [measured(2, { completed: false }), predicted(2, { status: 'length_capped' })],
      [measured(3, lost), predicted(3, { status: 'rejected', ...lost })],
      [measured(4), predicted(4, { status: 'gateway_expired', ...lost })],
    ]);
    expect(failures).toEqual({
      requests: 5,
      real: { failed: 3, share: 0.6, timed_out: 1, other: 2 },
      sim: { failed: 3, share: 0.6, timed_out: 2, other: 1 },
      both: 2,
    });
    expect(failureNote(failures)).toBeNull();
  });

  it('are none that the simulation did not get to, and what has no end where results have no status', () => {
    const sim = (one: Parameters<typeof predicted>[1]) =>
      compareFailures([[measured(0), predicted(0, one)]]).sim.failed;
    expect(['running', 'queued', 'not_arrived'].map((status) => sim({ status, ...lost }))).toEqual([0, 0, 0]);
    expect([sim({ status: null, ...lost }), sim({ status: null })]).toEqual([1, 0]);
  });

  it('are worth a warning where the shares differ by more than a point', () => {
    const both = Array.from(
      { length: 100 },
      (_, i) =>
        [measured(i, { completed: i > 2 }), predicted(i, { status: i > 0 ? 'completed' : 'timed_out' })] as const,
    );
    expect(failureNote(compareFailures(both))).toBe(
      'failed requests: 3.0 % (3 of 100) measured, 1.0 % (1 of 100) predicted; latencies are those of requests with a response on both sides',
    );
    expect(failureNote(compareFailures(both.slice(2)))).not.toBeNull();
    expect(failureNote(compareFailures(both.slice(3)))).toBeNull();
  });
});
