import { describe, expect, it } from 'vitest';
import type { LatencySetup } from './contract.js';
import { setupOf, shapeOf, whole } from './latency.contract.js';
import { roofline } from './roofline.js';

const create = (setup: LatencySetup) => roofline.create(setup, () => {});

describe('roofline', () => {
  const qwen = create(setupOf('qwen/qwen3-14b'));

  it('has no overheads', () => {
    expect([qwen.queueingUs, qwen.postDecodeUs, qwen.outputTokenUs]).toEqual([0, 0, 0]);
  });

  it('reproduces the worked steps of qwen3-14b on one H100', () => {
    expect(qwen.stepUs(shapeOf([whole(62)]))).toBe(5769);
    expect(qwen.stepUs(shapeOf([], [62]))).toBe(5762);
    expect(qwen.stepUs(shapeOf([whole(2000)]))).toBe(90375);
    expect(qwen.stepUs(shapeOf([whole(2000)], [62]))).toBe(90440);
  });

  it.each([
    ['mixtral-8x7b-v0.1', 'H100', 269, 9390],
    ['llama-3.1-8b-instruct', 'A100-80', 45 + 293, 14667],
    ['llama-3.1-8b-instruct', 'A100-80', 472 + 441, 40206],
  ])('reproduces the reference first token of %s on two %s for %i tokens', (model, gpu, input, ttft) => {
    expect(create(setupOf(model, gpu, 2)).stepUs(shapeOf([whole(input)]))).toBe(ttft);
  });

  it('charges a chunk for the context before it', () => {
    const chunk = (done: number) => qwen.stepUs(shapeOf([{ input: 8000, done, tokens: 2000 }]));
    expect(chunk(0)).toBe(qwen.stepUs(shapeOf([whole(2000)])));
    expect(chunk(6000)).toBeGreaterThan(chunk(0));
  });

  it('depends on the batch only through its sums', () => {
    const a = [{ input: 300, done: 100, tokens: 50 }, whole(70)];
    const b = shapeOf([...a].reverse(), [90, 10]);
    expect(qwen.stepUs(shapeOf(a, [10, 90]))).toBe(qwen.stepUs(b));
  });

  it('loads more experts for more tokens, up to all of them', () => {
    const mixtral = create(setupOf('mixtral-8x7b-v0.1', 'H100', 2));
    const us = (requests: number) => mixtral.stepUs(shapeOf([], new Array(requests).fill(1)));
    // Two of eight experts for one token; 1 - 0.75^2 of them for two.
    const expected = (share: number, tokens: number) => {
      const attention = (4096 * (4096 + 2048) + 4096 * 4096) * 32;
      const weights = (attention + 2 * 4096 * 14336 * 8 * share * 32) * 2;
      const dynamic = (2 * 32 * 8 * 128 * 2 * 2 + 32 * 4096 * 2) * tokens;
      return Math.trunc((weights / 2 + dynamic / 2) / 3.35e6);
    };
    expect(us(1)).toBe(expected(0.25, 1));
    expect(us(2)).toBe(expected(1 - 0.75 ** 2, 2));
    expect(us(64)).toBe(expected(1 - 0.75 ** 64, 64));
  });

  it('takes four times the width for an MLP size that is not given', () => {
    const setup = setupOf('qwen3-14b');
    const model = { ...setup.model, intermediate: 0, denseIntermediate: 0, moeIntermediate: 0 };
    const given = { ...setup.model, denseIntermediate: 4 * 5120 };
    const shape = shapeOf([whole(500)]);
    expect(create({ ...setup, model }).stepUs(shape)).toBe(create({ ...setup, model: given }).stepUs(shape));
  });

  it('copies KV heads over more GPUs than there are', () => {
    expect(create(setupOf('qwen3-30b-a3b', 'H100', 8)).stepUs(shapeOf([], [9]))).toBeGreaterThan(1);
  });

  it.each([
    ['--alpha-coeffs', { alpha: [1, 2, 3] }],
    ['--beta-coeffs', { beta: [1, 1, 1, 1, 1, 1, 1] }],
  ])('refuses %s', (place, given) => {
    expect(() => create({ ...setupOf('qwen3-14b'), ...given })).toThrow(
      expect.objectContaining({ code: 'BAD_COEFFICIENTS', place }),
    );
  });

  it('refuses a mixture of experts without the number of experts per token', () => {
    const setup = setupOf('mixtral-8x7b-v0.1');
    expect(() => create({ ...setup, model: { ...setup.model, expertsPerToken: 0 } })).toThrow(
      expect.objectContaining({ code: 'MODEL_LACKS_FIELD', place: expect.stringContaining('num_experts_per_tok') }),
    );
  });
});
