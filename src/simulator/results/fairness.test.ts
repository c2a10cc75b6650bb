import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fairness, jainIndex } from './fairness.js';
import { fakeOutcomes } from './fake-outcomes.fixture.js';

describe('jainIndex', () => {
  it('is 1 when all have the same', () => {
    expect(jainIndex([7, 7, 7])).toBe(1);
  });

  it('is one n-th when one has everything', () => {
    expect(jainIndex([0, 8, 0, 0])).toBe(0.25);
  });

  it('is (sum of shares) squared over n times the sum of squares', () => {
    expect(jainIndex([360, 272])).toBeCloseTo((632 * 632) / (2 * (360 * 360 + 272 * 272)), 15);
    expect(jainIndex([360, 272]).toFixed(4)).toBe('0.9810');
  });

  it('is 1 when there is nothing to share, and without tenants', () => {
    expect([jainIndex([0, 0]), jainIndex([])]).toEqual([1, 1]);
  });

  it('lies between one n-th and 1', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { minLength: 1, maxLength: 10 }), (shares) => {
        expect(jainIndex(shares)).toBeGreaterThanOrEqual(1 / shares.length - 1e-12);
        expect(jainIndex(shares)).toBeLessThanOrEqual(1 + 1e-12);
      }),
    );
  });
});

describe('fairness', () => {
  it('counts completed requests and their output tokens per tenant, sorted by name', () => {
    const { table, outcomes } = fakeOutcomes([
      { tenant: 'b', e2e: 1, tokens: 30 },
      { tenant: 'a', e2e: 1, tokens: 10 },
      { tenant: 'b', e2e: 1, tokens: 20 },
    ]);
    const { jain, tenants } = fairness(table, outcomes);
    expect(Object.entries(tenants)).toEqual([
      ['a', { requests: 1, tokens: 10 }],
      ['b', { requests: 2, tokens: 50 }],
    ]);
    expect(jain).toBe((60 * 60) / (2 * (100 + 2500)));
  });

  it('leaves out requests without a tenant, and tenants without a completed request', () => {
    const { table, outcomes } = fakeOutcomes([{ e2e: 1, tokens: 9 }, { tenant: 'late' }, { tenant: 'a', e2e: 1 }]);
    expect(fairness(table, outcomes)).toEqual({ jain: 1, tenants: { a: { requests: 1, tokens: 1 } } });
  });
});
