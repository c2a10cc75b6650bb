import { describe, expect, it } from 'vitest';
import { BodyBudget } from './body-budget.js';

const LIMITS = { inflightBytes: 100, inflightBytesPerKey: 60 };

describe('BodyBudget', () => {
  it('counts a body as it arrives, until its request has ended', () => {
    const budget = new BodyBudget();
    const hold = budget.hold('k', LIMITS);
    expect([hold.grow(10), hold.grow(50), budget.bytes, budget.ofKey('k')]).toEqual([null, null, 50, 50]);
    hold.release();
    hold.release();
    expect([budget.bytes, budget.ofKey('k')]).toEqual([0, 0]);
  });

  it('refuses what a key has no room for with 429, and what the process has no room for with 503', () => {
    const budget = new BodyBudget();
    expect(budget.hold('a', LIMITS).grow(60)).toBeNull();
    expect(budget.hold('a', LIMITS).grow(1)).toMatchObject({ status: 429, retryAfterS: 1 });
    const other = budget.hold('b', LIMITS);
    expect([other.grow(40), budget.bytes]).toEqual([null, 100]);
    expect(other.grow(41)).toMatchObject({ status: 503, retryAfterS: 1 });
    // What was counted before stays counted until it is released.
    expect(budget.bytes).toBe(100);
    other.release();
    expect(budget.hold('c', LIMITS).grow(40)).toBeNull();
  });

  it('has no share per key where there are no keys', () => {
    const budget = new BodyBudget();
    expect([budget.hold('', LIMITS).grow(61), budget.ofKey('')]).toEqual([null, 0]);
  });
});
