import { describe, expect, it } from 'vitest';
import { FIT_SHARE, ProcessorBudget } from './processor-budget.js';

describe('ProcessorBudget', () => {
  it('keeps work at its share of the time, however long its pieces are', () => {
    let nowMs = 0;
    const budget = new ProcessorBudget(
      FIT_SHARE,
      () => nowMs,
      (ms) => {
        nowMs += ms;
      },
      0,
    );
    for (let i = 0; i < 200; i++) {
      nowMs += 1 + ((i * 37) % 100);
      budget.pace();
      expect(budget.busyMs / nowMs).toBeLessThanOrEqual(FIT_SHARE + 1e-9);
    }
    expect(budget.busyMs / nowMs).toBeCloseTo(FIT_SHARE, 6);
  });

  it('counts the last piece, and returns the pause that the next fit waits for', () => {
    let nowMs = 100;
    const budget = new ProcessorBudget(
      0.05,
      () => nowMs,
      () => {},
      0,
    );
    expect(budget.settle()).toBeCloseTo(1900);
    nowMs += 10;
    expect(budget.settle()).toBeCloseTo(190);
    expect(budget.busyMs).toBe(110);
  });
});
