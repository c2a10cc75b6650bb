import { describe, expect, it } from 'vitest';
import { CORRECTION } from '../../latency-predictor.js';
import { MOST_FACTOR, ResidualCorrection } from './residual-correction.js';

const PREDICTED = [20_000, 50_000, 120_000, 400_000];

/** What a prediction becomes after responses that took as long as `measured` says. */
function learnt(measured: (us: number, i: number) => number, responses = 400) {
  const correction = new ResidualCorrection(2);
  for (let i = 0; i < responses; i++) {
    const us = PREDICTED[i % PREDICTED.length]!;
    correction.learn(1, us, measured(us, i));
  }
  return (us: number) => {
    correction.correct(1, us);
    return { us: correction.us, state: correction.state };
  };
}

describe('ResidualCorrection', () => {
  it('leaves predictions alone until it has seen a few responses', () => {
    expect(learnt((us) => 2 * us, 3)(50_000)).toEqual({ us: 50_000, state: CORRECTION.none });
    expect(learnt((us) => 2 * us, 12)(50_000).us).toBeGreaterThan(60_000);
  });

  it('learns a factor and an extra time', () => {
    const correct = learnt((us) => 1.5 * us + 8000);
    for (const us of PREDICTED) {
      const { state, us: corrected } = correct(us);
      expect(state).toBe(CORRECTION.applied);
      expect(corrected / (1.5 * us + 8000)).toBeCloseTo(1, 1);
    }
  });

  it('follows a replica that changes', () => {
    const correct = learnt((us, i) => (i < 200 ? 0.5 : 2) * us);
    expect(correct(120_000).us / 240_000).toBeCloseTo(1, 1);
  });

  it('changes a prediction by a limited factor, and says that it is at its limit', () => {
    const slow = learnt((us) => 50 * us)(50_000);
    expect(slow).toEqual({ us: MOST_FACTOR * 50_000, state: CORRECTION.limited });
    const quick = learnt((us) => us / 50)(50_000);
    expect(quick).toEqual({ us: 50_000 / MOST_FACTOR, state: CORRECTION.limited });
  });

  it('is moved little by one response that hangs', () => {
    const correct = learnt((us, i) => (i === 399 ? 1000 : 1) * us);
    expect(correct(50_000).us).toBeLessThan(75_000);
  });

  it('uses plain predictions, and says so, where its own have been worse', () => {
    // Alternating far above and a little below: the relative error of the mean is larger than that of the prediction.
    const { state, us } = learnt((given, i) => (i % 8 < 1 ? 8 : 0.9) * given)(50_000);
    expect({ state, us }).toEqual({ state: CORRECTION.off, us: 50_000 });
  });

  it('knows replicas apart, and forgets one', () => {
    const correction = new ResidualCorrection(3);
    for (let i = 0; i < 50; i++) correction.learn(0, 50_000, 100_000);
    correction.rearrange(Int32Array.of(1, 0));
    correction.correct(0, 50_000);
    expect(correction.us).toBe(50_000);
    correction.correct(1, 50_000);
    expect(correction.us).toBeGreaterThan(90_000);
    correction.forget(1);
    correction.correct(1, 50_000);
    expect(correction.us).toBe(50_000);
  });

  it('ignores times that are no times', () => {
    const correction = new ResidualCorrection(1);
    for (const [predicted, measured] of [
      [Number.NaN, 5],
      [5, Number.NaN],
      [0, 5],
      [5, -1],
    ] as const) {
      for (let i = 0; i < 20; i++) correction.learn(0, predicted, measured);
    }
    correction.correct(0, 50_000);
    expect([correction.us, correction.state]).toEqual([50_000, CORRECTION.none]);
  });
});
