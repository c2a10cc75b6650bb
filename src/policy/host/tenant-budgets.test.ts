import { describe, expect, it } from 'vitest';
import { TenantBudgets } from './tenant-budgets.js';

function budgetsOf(shares: Record<string, number>, seats = 8) {
  const budgets = new TenantBudgets();
  budgets.configure(shares);
  budgets.seats = seats;
  const [t, u] = ['t', 'u'].map((name) => budgets.numberOf(name));
  return { budgets, t: t!, u: u! };
}

describe('TenantBudgets', () => {
  it('numbers tenants in order of appearance; none is -1', () => {
    const tenants = new TenantBudgets();
    expect(['a', '', 'b', 'a'].map((name) => tenants.numberOf(name))).toEqual([1, -1, 2, 1]);
  });

  it('distinguishes a limited number, and always those with a share', () => {
    const tenants = new TenantBudgets(2);
    expect(['a', 'b', 'c', 'd'].map((name) => tenants.numberOf(name))).toEqual([1, 2, 0, 0]);
    tenants.configure({ a: 0.5, c: 0.5 });
    expect(['a', 'c', 'd'].map((name) => tenants.numberOf(name))).toEqual([1, 3, 0]);
  });

  it('is over when a tenant has more in flight than its share, for sheddable requests only', () => {
    const { budgets, t } = budgetsOf({ t: 0.25 });
    for (let request = 0; request < 2; request++) budgets.placed(request, t);
    expect(budgets.isOver(t, -1)).toBe(false);
    budgets.placed(2, t);
    expect([budgets.isOver(t, -1), budgets.isOver(t, 0)]).toEqual([true, false]);
    budgets.left(2);
    expect(budgets.isOver(t, -1)).toBe(false);
  });

  it('does not limit tenants without a share, or requests without a tenant', () => {
    const { budgets, u } = budgetsOf({ t: 0 });
    for (const [request, tenant] of [u, -1].entries()) {
      budgets.placed(request, tenant);
      expect(budgets.isOver(tenant, -1)).toBe(false);
      budgets.left(request);
    }
    expect([budgets.isEmpty, budgetsOf({}).budgets.isEmpty]).toEqual([false, true]);
  });

  it('counts a request once, however often it is placed or ends', () => {
    const { budgets, t, u } = budgetsOf({ t: 0, u: 0 });
    budgets.left(7);
    budgets.placed(7, u);
    budgets.placed(7, t);
    expect([budgets.isOver(t, -1), budgets.isOver(u, -1)]).toEqual([true, false]);
    budgets.left(7);
    budgets.left(7);
    budgets.placed(8, t);
    expect(budgets.isOver(t, -1)).toBe(true);
    budgets.left(8);
    expect(budgets.isOver(t, -1)).toBe(false);
  });

  it('applies a share that is configured later to what is in flight', () => {
    const budgets = new TenantBudgets();
    const tenants = Array.from({ length: 40 }, (_, i) => budgets.numberOf(`tenant ${i}`));
    tenants.forEach((tenant, request) => {
      budgets.placed(request, tenant);
    });
    budgets.configure({ 'tenant 33': 0, late: 0 });
    expect(budgets.isOver(tenants[33]!, -1)).toBe(true);
    expect(budgets.isOver(budgets.numberOf('late'), -1)).toBe(false);
  });

  it('follows the number of seats', () => {
    const { budgets, t } = budgetsOf({ t: 0.5 }, 2);
    budgets.placed(0, t);
    budgets.placed(1, t);
    expect(budgets.isOver(t, -1)).toBe(true);
    budgets.seats = 4;
    expect(budgets.isOver(t, -1)).toBe(false);
  });
});
