import { describe, expect, it } from 'vitest';
import { RetryBudget } from './retry-budget.js';

function spendAll(budget: RetryBudget): number {
  let spent = 0;
  while (budget.spend()) spent++;
  return spent;
}

describe('RetryBudget', () => {
  it('has a few retries from the start', () => {
    expect(spendAll(new RetryBudget(0.2, 10))).toBe(10);
  });

  it('then allows a share of the requests', () => {
    const budget = new RetryBudget(0.2, 10);
    spendAll(budget);
    for (let i = 0; i < 4; i++) budget.request();
    expect(budget.spend()).toBe(false);
    for (let i = 0; i < 21; i++) budget.request();
    expect(spendAll(budget)).toBe(5);
  });

  it('does not save up without end', () => {
    const budget = new RetryBudget(1, 3);
    for (let i = 0; i < 1000; i++) budget.request();
    expect(spendAll(budget)).toBe(3);
  });

  it('allows none when the share is nothing', () => {
    const budget = new RetryBudget(0);
    budget.request();
    expect(budget.spend()).toBe(false);
  });

  it('takes another share on and keeps what was earned', () => {
    const budget = new RetryBudget(0.1, 10);
    budget.share = 0;
    for (let i = 0; i < 100; i++) budget.request();
    expect(spendAll(budget)).toBe(10);
  });
});
