import { describe, expect, it } from 'vitest';
import { dynamoCost } from './dynamo-cost.js';
import { pickerOf } from './parts/picker.fixture.js';

/** Costs of 10, 14 and 12 blocks when a block to compute counts like a block in use. */
function arranged(options: object = {}) {
  const host = pickerOf(dynamoCost, 3, options);
  const { request, view } = host;
  request.inputTokens = 160;
  request.blockSize = 16;
  request.routedBlocks.set([0, 8, 4]);
  view.pendingPrefillTokens.set([0, 32, 0]);
  view.ongoingTokens.set([0, 160, 96]);
  return host;
}

describe('dynamo-cost', () => {
  it('adds blocks to compute and blocks in use, and takes the least', () => {
    const { why, ask, fact } = arranged();
    expect(ask()).toBe(0);
    expect(fact('cost')).toEqual([10, 14, 12]);
    expect(why).toMatchObject({ scored: false, tied: 1, rule: 'least cost' });
  });

  it('scales the blocks to compute', () => {
    const { ask, fact } = arranged({ overlap_score_weight: 2 });
    expect(ask()).toBe(1);
    expect(fact('cost')).toEqual([20, 18, 18]);
    expect(arranged({ overlap_score_weight: 4 }).ask()).toBe(1);
  });

  it('draws with a temperature: the lower the cost, the higher the probability', () => {
    const { view, why, ask } = arranged({ temperature: 0.5 });
    const counts = [0, 0, 0];
    for (let i = 0; i < 3000; i++) counts[ask()]!++;
    const weights = [0, 1, 0.5].map((cost) => Math.exp(-cost / 0.5));
    const sum = weights.reduce((a, b) => a + b);
    for (const [i, weight] of weights.entries()) {
      expect(Math.abs(counts[i]! - (3000 * weight) / sum)).toBeLessThan(120);
    }
    expect(why).toMatchObject({ tied: 0, rule: 'drawn by cost' });
    view.eligible[0] = 0;
    for (let i = 0; i < 50; i++) expect(ask()).not.toBe(0);
    view.eligible.fill(0);
    expect(ask()).toBe(-1);
  });

  it('draws evenly among equals', () => {
    const { ask } = pickerOf(dynamoCost, 3, { temperature: 0.1 });
    const counts = [0, 0, 0];
    for (let i = 0; i < 3000; i++) counts[ask()]!++;
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(100);
  });
});
