import { describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
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
    budget.requests += 4;
    expect(budget.spend()).toBe(false);
    budget.requests += 21;
    expect(spendAll(budget)).toBe(5);
  });

  it('does not save up without end', () => {
    const budget = new RetryBudget(1, 3);
    budget.requests += 1000;
    expect(spendAll(budget)).toBe(3);
  });

  it('allows none when the share is nothing', () => {
    const budget = new RetryBudget(0);
    budget.requests++;
    expect(budget.spend()).toBe(false);
  });

  it('applies another share and keeps what was earned', () => {
    const budget = new RetryBudget(0.1, 10);
    budget.share = 0;
    budget.requests += 100;
    expect(spendAll(budget)).toBe(10);
  });

  it('credits requests with the share that held when they came', () => {
    const budget = new RetryBudget(0.5, 10);
    spendAll(budget);
    budget.requests += 6;
    budget.share = 1;
    budget.requests += 2;
    expect(spendAll(budget)).toBe(5);
  });

  it('covers a third of the replicas failing half of the time, in bursts', () => {
    const budget = new RetryBudget(0.2);
    const random = randomStream(1, 'bursts');
    let refused = 0;
    for (let request = 0; request < 50_000; request++) {
      budget.requests++;
      const isBurst = request % 28 < 14;
      if (isBurst && random.below(3) === 0 && !budget.spend()) refused++;
    }
    expect(refused).toBe(0);
  });
});
