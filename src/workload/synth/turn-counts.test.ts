import { describe, expect, it } from 'vitest';
import { percentile } from '../../kernel/percentile.js';
import { randomStream } from '../../kernel/random-stream.js';
import { turnCounts } from './turn-counts.js';

const counts = (sessions: number, requests: number, seed = 1) =>
  turnCounts(sessions, requests, randomStream(seed, 'test'));

/** The smallest value that at least p percent do not exceed. */
const nearestRank = (sorted: Int32Array, p: number) => sorted[Math.ceil((p / 100) * sorted.length) - 1];

describe('turnCounts', () => {
  it.each([
    [274, 1214],
    [101, 400],
    [150, 1000],
    [1000, 4430],
    [2740, 12_140],
  ])(
    'gives %d sessions with %d requests in total the published quantiles, by either definition',
    (sessions, requests) => {
      for (const seed of [1, 2, 3]) {
        const turns = counts(sessions, requests, seed);
        expect(turns.reduce((sum, n) => sum + n)).toBe(requests);
        expect([percentile(turns, 90), percentile(turns, 99)]).toEqual([1, 18]);
        expect([nearestRank(turns, 90), nearestRank(turns, 99)]).toEqual([1, 18]);
        expect([...turns]).toEqual([...turns].sort((a, b) => a - b));
      }
    },
  );

  it('has a few sessions of hundreds of turns and a tail of short ones', () => {
    const turns = counts(274, 1214);
    expect(turns.filter((n) => n > 18)).toHaveLength(2);
    expect(turns[272]).toBeGreaterThan(200);
    const middle = turns.filter((n) => n > 1 && n < 18);
    expect(middle.length).toBe(22);
    expect(middle.filter((n) => n < 6).length).toBeGreaterThan(middle.filter((n) => n >= 6).length);
  });

  it('refuses counts that cannot have these quantiles', () => {
    expect(() => counts(100, 1000)).toThrowError(
      expect.objectContaining({ code: 'SYNTH_INVALID', place: '--sessions', hint: 'give at least 101' }),
    );
    let least = 0;
    try {
      counts(274, 300);
    } catch (error) {
      expect(error).toMatchObject({ code: 'SYNTH_INVALID', place: '--requests' });
      least = Number(/\d+/.exec((error as { hint: string }).hint)![0]);
    }
    expect(counts(274, least).filter((n) => n === 19)).toHaveLength(2);
    expect(() => counts(274, least - 1)).toThrowError(expect.objectContaining({ place: '--requests' }));
  });
});
