import { expect, it } from 'vitest';
import { planCandidate } from './plan-candidate.js';
import type { PlanPoint } from './plan-point.js';
import type { PointAt, PointEvaluator } from './point-evaluator.js';

const SLO = { of: 'ttft', at: 99, limitMs: 500 } as const;
const QUESTION = { factor: null, replicas: 2, mostReplicas: 8, curve: [], tolerance: 0.02 };

const point = (at: PointAt, kept: boolean) =>
  ({ ...at, kept, latencies: [{ of: 'ttft', at: 99, ms: kept ? 100 : 900, low: null, high: null }] }) as PlanPoint;

/** One seed keeps the SLO up to one load, all seeds together up to another. */
const evaluator = (oneSeed: number, all: number) =>
  ({
    settings: { slos: [SLO] },
    load: { baseRate: 1 },
    modelError: null,
    idle: async () => point({ replicas: 1, factor: 0.01 }, true),
    capacity: async () => 5,
    keeps: async (at: PointAt) => point(at, at.factor <= oneSeed),
    whole: async (at: PointAt) => point(at, at.factor <= all),
  }) as unknown as PointEvaluator;

it('reports a greatest load that is kept with all seeds, not only with the first', async () => {
  const plan = await planCandidate(evaluator(10, 8), QUESTION);
  expect(plan.greatest).toBeLessThanOrEqual(8);
  expect(plan.greatest).toBeGreaterThan(7.8);
  expect(plan.at!.kept).toBe(true);
});

it('reports no load where none is kept with all seeds', async () => {
  expect(await planCandidate(evaluator(10, 0), QUESTION)).toMatchObject({ greatest: null, at: null });
});
