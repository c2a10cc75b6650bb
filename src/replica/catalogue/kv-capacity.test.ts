import { describe, expect, it } from 'vitest';
import { loadGpu } from './gpu-catalogue.js';
import { type CapacityOptions, derivedKvBlocks, derivedMaxModelLen } from './kv-capacity.js';
import { loadModel } from './model-catalogue.js';

const usual: CapacityOptions = { tp: 1, dp: 1, blockSize: 16, gpuMemoryUtilization: 0.9 };
const blocks = (model: string, gpu: string, options: Partial<CapacityOptions> = {}) =>
  derivedKvBlocks(loadModel(model), loadGpu(gpu), { ...usual, ...options });

describe('derivedKvBlocks', () => {
  it.each([
    ['qwen/qwen3-14b', 'H100', 1, 15909],
    ['qwen/qwen3-14b', 'H100', 2, 89941],
    ['qwen/qwen3-14b', 'L40S', 1, 4113],
    ['meta-llama/llama-3.1-8b-instruct', 'H100', 1, 26312],
    ['mistralai/mixtral-8x7b-v0.1', 'H100', 2, 48956],
    ['redhatai/llama-4-scout-17b-16e-instruct-fp8-dynamic', 'H100', 2, 27345],
    ['qwen/qwen3-30b-a3b', 'H100', 2, 107423],
    ['deepseek-ai/deepseek-v2-lite', 'H100', 2, 227391],
  ])('%s on %s x%i: %i blocks', (model, gpu, tp, expected) => {
    expect(blocks(model, gpu, { tp })).toBe(expected);
  });

  it('halves the blocks for blocks of twice the size', () => {
    expect(blocks('qwen3-14b', 'H100', { blockSize: 32 })).toBe(Math.trunc(15909 / 2));
  });

  it('multiplies the blocks of a mixture of experts by its ranks', () => {
    expect(blocks('qwen3-30b-a3b', 'H100', { tp: 2, dp: 3 })).toBe(3 * 107423);
  });

  it('counts embeddings once when input and output share them', () => {
    const model = { ...loadModel('qwen3-14b'), tiedEmbeddings: true };
    const saved = (151936 * 5120 * 2) / (2 * 40 * 128 * 8 * 2 * 16);
    expect(Math.abs(derivedKvBlocks(model, loadGpu('H100'), usual) - 15909 - saved)).toBeLessThanOrEqual(1);
  });

  it('computes the head width where the config does not have it', () => {
    const model = { ...loadModel('qwen3-14b'), headDim: null };
    expect(derivedKvBlocks(model, loadGpu('H100'), usual)).toBe(15909);
  });

  it('copies KV heads over more GPUs than there are', () => {
    expect(blocks('qwen3-30b-a3b', 'H100', { tp: 8 })).toBeGreaterThan(107423);
  });

  it.each<[string, string, string, Partial<CapacityOptions>, RegExp]>([
    ['UNEVEN_TP', '--tp', 'qwen3-14b', { tp: 3 }, /40 attention heads; give one of 1, 2, 4, 8$/],
    ['UNEVEN_TP', '--tp', 'qwen3-14b', { tp: 5 }, /8 KV heads/],
    ['BAD_FLAG_VALUE', '--tp', 'qwen3-14b', { tp: 0 }, /at least 1/],
    ['BAD_FLAG_VALUE', '--dp', 'mixtral-8x7b-v0.1', { dp: 0.5 }, /at least 1/],
    ['DP_NEEDS_MOE', '--dp', 'qwen3-14b', { dp: 2 }, /not a mixture of experts/],
    ['BAD_FLAG_VALUE', '--block-size-in-tokens', 'qwen3-14b', { blockSize: 0 }, /at least 1/],
    ['BAD_FLAG_VALUE', '--gpu-memory-utilization', 'qwen3-14b', { gpuMemoryUtilization: 0 }, /above 0/],
    ['BAD_FLAG_VALUE', '--gpu-memory-utilization', 'qwen3-14b', { gpuMemoryUtilization: 1.1 }, /at most 1/],
    ['BAD_FLAG_VALUE', '--gpu-memory-utilization', 'qwen3-14b', { gpuMemoryUtilization: Number.NaN }, /at most 1/],
    [
      'MODEL_DOES_NOT_FIT',
      '--hardware H100 --tp 1',
      'llama-3.1-70b-instruct',
      {},
      /needs 137\.\d GiB.*72\.0 GiB are usable/,
    ],
    ['MODEL_DOES_NOT_FIT', '--hardware H100 --tp 1', 'qwen3-14b', { blockSize: 1e6 }, /no memory for one KV block/],
  ])('%s for %s (%#)', (code, place, model, options, message) => {
    expect(() => blocks(model, 'H100', options)).toThrow(
      expect.objectContaining({ code, place, message: expect.stringMatching(message) }),
    );
  });

  it.each([
    ['MODEL_LACKS_FIELD', { vocab: 0 }, /\(vocab_size\)/],
    ['MODEL_LACKS_FIELD', { intermediate: 0 }, /\(intermediate_size\)/],
    ['UNSUPPORTED_ACTIVATION', { activation: 'relu' }, /\(hidden_act\): .*'relu'.*silu, swiglu, geglu, situ/],
  ])('%s for a model it cannot size (%#)', (code, change, message) => {
    const model = { ...loadModel('qwen3-14b'), ...change };
    expect(() => derivedKvBlocks(model, loadGpu('H100'), usual)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  it.each(['', 'silu', 'swiglu', 'geglu', 'situ'])('sizes a model with activation %j', (activation) => {
    expect(derivedKvBlocks({ ...loadModel('qwen3-14b'), activation }, loadGpu('H100'), usual)).toBe(15909);
  });
});

describe('derivedMaxModelLen', () => {
  const model = loadModel('qwen3-14b');

  it('is the context of the model, or what was given', () => {
    expect(derivedMaxModelLen(model, undefined, 15909, 16)).toBe(40960);
    expect(derivedMaxModelLen(model, 1000, 15909, 16)).toBe(1000);
  });

  it('is never more than the blocks hold', () => {
    expect(derivedMaxModelLen(model, undefined, 100, 16)).toBe(1600);
    expect(derivedMaxModelLen(model, 1601, 100, 16)).toBe(1600);
    expect(derivedMaxModelLen(model, 1599, 100, 16)).toBe(1599);
  });

  it('is what the blocks hold for 0 and for a model without a limit', () => {
    expect(derivedMaxModelLen(model, 0, 100, 16)).toBe(1600);
    expect(derivedMaxModelLen({ ...model, maxContext: 0 }, undefined, 100, 16)).toBe(1600);
  });

  it.each([-1, 1.5, Number.NaN])('refuses %d', (given) => {
    expect(() => derivedMaxModelLen(model, given, 100, 16)).toThrow(
      expect.objectContaining({ code: 'BAD_FLAG_VALUE', place: '--max-model-len' }),
    );
  });
});
