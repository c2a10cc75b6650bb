import { describe, expect, it } from 'vitest';
import { ProcessorShare } from './processor-share.js';

/** Requests that each earn 10 us, decided by the chance of the moment; returns the share of decisions. */
function decided(share: ProcessorShare, decisionUs: number, rounds: number): number {
  let made = 0;
  for (let i = 0; i < rounds; i++) {
    share.earn(10 * 100);
    const decisions = share.isLeft ? Math.round(100 * share.chance) : 0;
    share.use(decisions * decisionUs, decisions);
    share.plan(10);
    made += decisions;
  }
  return made / (100 * rounds);
}

describe('ProcessorShare', () => {
  it('affords every decision that costs less than a request earns', () => {
    expect(decided(new ProcessorShare(), 8, 200)).toBeCloseTo(1, 2);
  });

  it('affords a part of the decisions that cost more, and uses what is earned', () => {
    expect(decided(new ProcessorShare(), 40, 1000)).toBeCloseTo(0.25, 1);
    expect(decided(new ProcessorShare(), 200, 1000)).toBeCloseTo(0.05, 1);
  });

  it('recovers from a first decision that took long', () => {
    const share = new ProcessorShare();
    share.use(100_000, 1);
    share.plan(10);
    expect(share.chance).toBe(0);
    decided(share, 8, 200);
    expect(decided(share, 8, 100)).toBeGreaterThan(0.95);
  });

  it('decides nothing while it is in debt', () => {
    const share = new ProcessorShare();
    share.use(25_000, 100);
    expect(share.isLeft).toBe(false);
    share.earn(4999);
    share.plan(10);
    expect([share.isLeft, share.chance]).toEqual([false, 0]);
    share.earn(2);
    share.plan(10);
    expect(share.isLeft).toBe(true);
    expect(share.chance).toBeLessThan(0.01);
  });
});
