import { describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { createFleetView } from '../fleet-view.js';
import { createRequestFeatures } from '../request-features.js';
import { alwaysAdmit } from './always-admit.js';
import { rejectAll } from './reject-all.js';
import { createTenantBudgets } from './tenant-budgets.js';
import { tokenBucket } from './token-bucket.js';

const context = { random: randomStream(1, 'x'), replicas: 1 };
const view = createFleetView(1);
const from = (tenant: number, priority: number) => ({ ...createRequestFeatures(1), tenant, priority });

describe('createTenantBudgets', () => {
  it('holds sheddable requests of a tenant that is over its share', () => {
    const budgets = createTenantBudgets(alwaysAdmit.create({}, context), new Map([[7, 0.25]]), 8);
    for (let i = 0; i < 2; i++) budgets.placed(7);
    expect(budgets.refuse(from(7, -1), view)).toBeNull();
    budgets.placed(7);
    expect(budgets.refuse(from(7, -1), view)).toBe('tenant is over its budget');
    expect(budgets.refuse(from(7, 3), view)).toBeNull();
    budgets.left(7);
    expect(budgets.refuse(from(7, -1), view)).toBeNull();
  });

  it('does not limit tenants without a share, or requests without a tenant', () => {
    const budgets = createTenantBudgets(alwaysAdmit.create({}, context), new Map([[7, 0]]), 8);
    for (const tenant of [1, -1]) {
      budgets.placed(tenant);
      expect(budgets.refuse(from(tenant, -1), view)).toBeNull();
      budgets.left(tenant);
    }
  });

  it('never counts below zero', () => {
    const budgets = createTenantBudgets(alwaysAdmit.create({}, context), new Map([[7, 0]]), 8);
    budgets.left(7);
    budgets.placed(7);
    expect(budgets.refuse(from(7, -1), view)).toBe('tenant is over its budget');
  });

  it('asks the inner gate about everybody else', () => {
    const budgets = createTenantBudgets(rejectAll.create({}, context), new Map([[7, 0]]), 8);
    expect(budgets.refuse(from(7, -1), view)).toBe('all requests are refused');
    budgets.placed(7);
    expect(budgets.refuse(from(7, -1), view)).toBe('tenant is over its budget');
    expect(budgets.refuse(from(7, 3), view)).toBe('all requests are refused');
  });

  it('leaves it to the inner gate to say when to come back', () => {
    const bucket = tokenBucket.create({ capacity: 10, refill_rate: 10 }, context);
    const budgets = createTenantBudgets(bucket, new Map([[7, 0]]), 8);
    const large = { ...from(3, -1), inputTokens: 10 };
    expect(budgets.refuse(large, view)).toBeNull();
    expect(budgets.refuse(large, view)).toBe('insufficient tokens');
    expect(budgets.retryAfterUs!(large)).toBe(1_000_001);
    budgets.placed(7);
    expect(budgets.retryAfterUs!(from(7, -1))).toBeNaN();
    expect(createTenantBudgets(rejectAll.create({}, context), new Map(), 8).retryAfterUs!(large)).toBeNaN();
  });
});
