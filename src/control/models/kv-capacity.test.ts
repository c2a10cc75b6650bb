import { describe, expect, it } from 'vitest';
import { loadGpu } from '../../replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../replica/catalogue/model-catalogue.js';
import { type GpuMemory, kvCapacity } from './kv-capacity.js';

describe('kvCapacity', () => {
  it.each([
    ['qwen/qwen3-14b', 'H100', 1, 15909],
    ['deepseek-ai/deepseek-v2-lite', 'H100', 2, 227391],
  ])('%s on %s x%i: %i blocks, as in the simulator', (name, gpu, gpus, blocks) => {
    const { memoryGiB } = loadGpu(gpu);
    expect(kvCapacity(loadModel(name), { memoryGiB, gpus })).toMatchObject({ blocks, tokens: 16 * blocks });
  });

  it('uses block size and utilisation', () => {
    const model = loadModel('qwen3-14b');
    expect(kvCapacity(model, { memoryGiB: 80, blockSize: 32 }).blocks).toBe(Math.trunc(15909 / 2));
    expect(kvCapacity(model, { memoryGiB: 90, utilisation: 0.8 }).blocks).toBe(15909);
  });

  it('limits requests to the context, or to the memory', () => {
    const model = loadModel('qwen3-14b');
    expect(kvCapacity(model, { memoryGiB: 80 }).maxModelLen).toBe(40_960);
    const { maxModelLen, tokens } = kvCapacity(model, { memoryGiB: 40 });
    expect([maxModelLen, tokens < 40_960]).toEqual([tokens, true]);
  });

  it.each<[string, string, GpuMemory, object, RegExp]>([
    [
      'MODEL_DOES_NOT_FIT',
      "model 'm' on 1 x 24 GiB",
      { memoryGiB: 24 },
      {},
      /^m needs .* GiB .*; give more GPUs, larger/,
    ],
    ['UNEVEN_TP', "model 'm' on 3 x 80 GiB", { memoryGiB: 80, gpus: 3 }, {}, /give one of 1, 2, 4, 8$/],
    ['MODEL_LACKS_FIELD', 'config.json of m (vocab_size)', { memoryGiB: 80 }, { vocab: 0 }, /add it to config.json/],
    [
      'UNSUPPORTED_ACTIVATION',
      'config.json of m (hidden_act)',
      { memoryGiB: 80 },
      { activation: 'relu' },
      /report their own capacity$/,
    ],
    ['MODEL_MEMORY', 'memoryGiB', { memoryGiB: 0 }, {}, /above 0/],
    ['MODEL_MEMORY', 'memoryGiB', { memoryGiB: Number.POSITIVE_INFINITY }, {}, /above 0/],
    ['MODEL_MEMORY', 'utilisation', { memoryGiB: 80, utilisation: 1.5 }, {}, /at most 1/],
    ['MODEL_MEMORY', 'gpus', { memoryGiB: 80, gpus: 0 }, {}, /at least 1/],
    ['MODEL_MEMORY', 'blockSize', { memoryGiB: 80, blockSize: 1.5 }, {}, /at least 1/],
  ])('%s at %s (%#)', (code, place, memory, change, words) => {
    const model = { ...loadModel('qwen3-14b'), name: 'm', ...change };
    const error = expect.objectContaining({ code, place });
    expect(() => kvCapacity(model, memory)).toThrow(error);
    expect(() => kvCapacity(model, memory)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(new RegExp(words.source.replace('^', ': '))) }),
    );
  });
});
