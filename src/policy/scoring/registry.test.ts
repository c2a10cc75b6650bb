import { describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { createFleetView, type FleetView } from '../fleet-view.js';
import { createRequestFeatures, type RequestFeatures } from '../request-features.js';
import { scorerContract } from '../scoring.contract.js';
import { SCORERS, scorer } from './registry.js';

for (const each of SCORERS) {
  describe(`scorer ${each.name}`, () => scorerContract(each));
}

function scores(name: string, arrange: (view: FleetView, request: RequestFeatures) => void): number[] {
  const view = createFleetView(4);
  const request = createRequestFeatures(4);
  arrange(view, request);
  const out = new Float64Array(4);
  scorer(name)
    .create({ random: randomStream(1, 'x'), replicas: 4 })
    .score(request, view, out);
  return Array.from(out);
}

describe('exact scores', () => {
  it('prefix-affinity: share of the prompt sent there before', () => {
    const arrange = (blocks: number) => (_view: FleetView, request: RequestFeatures) => {
      request.blockCount = blocks;
      request.routedBlocks.set([0, 1, 3, 2]);
    };
    expect(scores('prefix-affinity', arrange(3))).toEqual([0, 1 / 3, 1, 2 / 3]);
    expect(scores('prefix-affinity', arrange(0))).toEqual([0, 0, 0, 0]);
  });

  it('precise-prefix-cache: between the emptiest and the fullest cache', () => {
    expect(scores('precise-prefix-cache', (_, r) => r.cachedBlocks.set([2, 5, 3, 2]))).toEqual([0, 1, 1 / 3, 0]);
    expect(scores('precise-prefix-cache', (_, r) => r.cachedBlocks.fill(4))).toEqual([1, 1, 1, 1]);
  });

  it('queue-depth: the effective load, not the queue alone', () => {
    const arrange = (view: FleetView) => {
      view.queued.set([0, 1, 2, 0]);
      view.running.set([0, 1, 2, 0]);
      view.inFlight.set([1, 1, 2, 0]);
    };
    expect(scores('queue-depth', arrange)).toEqual([5 / 6, 3 / 6, 0, 1]);
    expect(scores('queue-depth', (view) => view.inFlight.fill(3))).toEqual([1, 1, 1, 1]);
  });

  it('waiting-queue: the queue alone', () => {
    const arrange = (view: FleetView) => {
      view.queued.set([1, 4, 2, 1]);
      view.running.set([9, 0, 0, 0]);
    };
    expect(scores('waiting-queue', arrange)).toEqual([1, 0, 2 / 3, 1]);
  });

  it('kv-utilization: the free share', () => {
    expect(scores('kv-utilization', (view) => view.kvUsed.set([0, 1, 0.25, 0.7]))).toEqual([1, 0, 0.75, 1 - 0.7]);
  });

  it('load-balance: one over one plus the load', () => {
    expect(scores('load-balance', (view) => view.running.set([0, 1, 2, 9]))).toEqual([1, 1 / 2, 1 / 3, 1 / 10]);
  });

  it('active-requests: against the busiest; all equally busy score 0', () => {
    expect(scores('active-requests', (view) => view.inFlight.set([0, 1, 4, 2]))).toEqual([1, 3 / 4, 0, 2 / 4]);
    expect(scores('active-requests', (view) => view.inFlight.fill(2))).toEqual([0, 0, 0, 0]);
    expect(scores('active-requests', () => {})).toEqual([1, 1, 1, 1]);
  });

  it('running-requests: the batch alone', () => {
    expect(scores('running-requests', (view) => view.running.set([3, 1, 5, 1]))).toEqual([2 / 4, 1, 0, 1]);
  });

  it('load-aware: 0.5 for an empty queue, 0 from 128 on', () => {
    expect(scores('load-aware', (view) => view.queued.set([0, 32, 128, 500]))).toEqual([0.5, 0.375, 0, 0]);
  });

  it('vllm-dp: a waiting request counts as four running ones', () => {
    const arrange = (view: FleetView) => {
      view.queued.set([1, 0, 2, 0]);
      view.running.set([0, 4, 2, 0]);
    };
    expect(scores('vllm-dp', arrange)).toEqual([6 / 10, 6 / 10, 0, 1]);
  });
});

describe('the registry of scorers', () => {
  it('suggests the nearest name', () => {
    expect(() => scorer('kv-utilisation')).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_SCORER',
        place: '--routing-scorers',
        hint: expect.stringContaining("did you mean 'kv-utilization'?"),
      }),
    );
  });

  it('describes each scorer once, in sentences and a formula', () => {
    expect(new Set(SCORERS.map(({ name }) => name)).size).toBe(SCORERS.length);
    for (const { summary, goodFor, notFor, formula, reads } of SCORERS) {
      for (const text of [summary, goodFor, notFor]) expect(text).toMatch(/^[A-Z].*\.$/);
      expect(formula).not.toBe('');
      expect(reads.length).toBeGreaterThan(0);
    }
  });
});
