import { describe, expect, it, vi } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import type { PolicyContext } from '../contract.js';
import { createExplanation } from '../explanation.js';
import { createFleetView } from '../fleet-view.js';
import { createRequestFeatures } from '../request-features.js';
import { kvUtilization } from '../scoring/kv-utilization.js';
import { DEFAULT_SCORERS, weighted } from './weighted.js';

function context(replicas: number): PolicyContext {
  return { random: randomStream(1, 'x'), replicas };
}

describe('weighted', () => {
  it('adds up shares of clamped scores', () => {
    const picker = weighted.create({ scorers: DEFAULT_SCORERS, tie_break: 'first', block_size: 0 }, context(2));
    const view = createFleetView(2);
    const request = createRequestFeatures(2);
    request.blockCount = 4;
    request.routedBlocks.set([3, 0]);
    view.queued.set([6, 2]);
    view.kvUsed.set([0.5, 0.25]);
    const why = createExplanation(2);
    expect(picker.pick(request, view, why)).toBe(1);
    expect(Array.from(why.scores)).toEqual([
      0 + 0.75 * (3 / 7) + 0 * (2 / 7) + 0.5 * (2 / 7),
      0 + 0 * (3 / 7) + 1 * (2 / 7) + 0.75 * (2 / 7),
    ]);
    expect(Array.from(why.terms.get('prefix-affinity')!)).toEqual([0.75 * (3 / 7), 0]);
    expect(why).toMatchObject({ scored: true, tied: 1, rule: 'highest weighted score' });
  });

  it('depends only on the ratios of weights', () => {
    const view = createFleetView(3);
    view.queued.set([4, 0, 2]);
    view.kvUsed.set([0, 0.9, 0.3]);
    const request = createRequestFeatures(3);
    const small = weighted.create(
      { scorers: 'queue-depth:1,kv-utilization:2', tie_break: 'first', block_size: 0 },
      context(3),
    );
    const large = weighted.create(
      { scorers: 'queue-depth:50,kv-utilization:100', tie_break: 'first', block_size: 0 },
      context(3),
    );
    const [whySmall, whyLarge] = [createExplanation(3), createExplanation(3)];
    expect(large.pick(request, view, whyLarge)).toBe(small.pick(request, view, whySmall));
    expect(whyLarge.scores).toEqual(whySmall.scores);
  });

  it('clamps scores to the range, and counts NaN as 0', () => {
    const picker = weighted.create(
      { scorers: [{ name: 'kv-utilization', weight: 2 }], tie_break: 'first', block_size: 0 },
      context(4),
    );
    const view = createFleetView(4);
    view.kvUsed.set([Number.NaN, 1.5, -3, 0.5]);
    const why = createExplanation(4);
    expect(picker.pick(createRequestFeatures(4), view, why)).toBe(2);
    expect(Array.from(why.scores)).toEqual([0, 0, 1, 0.5]);
  });

  it('reports placements to its scorers', () => {
    const placed = vi.fn();
    const create = vi.spyOn(kvUtilization, 'create').mockReturnValue({ score: () => {}, placed });
    const picker = weighted.create(
      { scorers: 'queue-depth:1,kv-utilization:1', tie_break: 'first', block_size: 0 },
      context(2),
    );
    const request = createRequestFeatures(2);
    const view = createFleetView(2);
    picker.placed!(request, 1, view);
    expect(placed.mock.calls).toEqual([[request, 1, view]]);
    create.mockRestore();
  });

  it('reads what its scorers read, each signal once', () => {
    expect(
      weighted.reads({ scorers: 'load-balance:1,queue-depth:2,prefix-affinity:1', tie_break: 'first', block_size: 0 }),
    ).toEqual(['queued', 'running', 'inFlight', 'prefixIndex']);
  });

  it('refuses unknown scorers even when options were not checked', () => {
    expect(() => weighted.create({ scorers: 'magic:1', tie_break: 'first', block_size: 0 }, context(2))).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_SCORER' }),
    );
  });
});
