import { expect, it } from 'vitest';
import { ReplicaRatios } from './replica-ratios.js';

function ratiosOf(factors: Record<string, number>, requests = 50): ReplicaRatios {
  const ratios = new ReplicaRatios();
  for (const [id, factor] of Object.entries(factors))
    for (let i = 0; i < requests; i++) ratios.add(id, 10_000, 10_000 * factor * (i % 2 === 0 ? 1.1 : 0.9));
  return ratios;
}

it('notes two groups of replicas that differ clearly', () => {
  expect(ratiosOf({ a: 0.8, b: 1.6, c: 0.82, d: 1.55, e: 1.6, f: 1.58 }).note()).toBe(
    "all replicas are alike, although d, f, b and 1 more take 2.0 times as long per token as a, c: replicas of different GPUs need their 'hardware' in the configuration",
  );
});

it('notes nothing of replicas that are alike, that differ one by one, or that are too little known', () => {
  expect(ratiosOf({ a: 1, b: 1.1, c: 0.95 }).note()).toBeNull();
  expect(ratiosOf({ a: 0.7, b: 0.9, c: 1.15, d: 1.45 }).note()).toBeNull();
  expect(ratiosOf({ a: 0.5, b: 2 }, 49).note()).toBeNull();
  const ratios = ratiosOf({ a: 0.5, b: 2 });
  ratios.clear();
  expect(ratios.note()).toBeNull();
});
