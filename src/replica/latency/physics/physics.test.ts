import { describe, expect, it } from 'vitest';
import { loadGpu } from '../../catalogue/gpu-catalogue.js';
import { loadModel } from '../../catalogue/model-catalogue.js';
import type { PhysicsCoefficients } from '../gpu-coefficients.js';
import { setupOf, shapeOf, whole } from '../latency.contract.js';
import { gpuFamily } from './gpu-family.js';
import { modelWork } from './model-work.js';
import { physics } from './physics.js';
import { physicsCosts } from './physics-costs.js';

const DATA_SHEET: PhysicsCoefficients = {
  weightShare: 1,
  contextShare: 1,
  matrixShare: 1,
  attentionShare: 1,
  overlap: 1,
  linkGBs: 1000,
  layerUs: 0,
  splitLayerUs: 0,
  promptLayerUs: 0,
  launchLayerUs: 0,
  stepUs: 0,
  requestUs: 0,
  crowdUs: 0,
  promptUs: 0,
  unevenContext: 0,
  sharedContext: 1,
  queueingUs: 0,
};
const ONE = { tp: 1, dp: 1, moeCommBackend: 'allgather_reducescatter' };
const workOf = (model: string, gpu = 'H100', tp = 1, dp = 1) =>
  modelWork(loadModel(model), loadGpu(gpu), { ...ONE, tp, dp });

describe('the work of a step', () => {
  it('reads all weights of a dense model once, for any number of tokens', () => {
    const { weightsUs } = workOf('meta-llama/llama-2-7b-hf');
    // 32 layers of 4 x 4096² and 3 x 4096 x 11008, and the output matrix, of 2 bytes, at 3.35 TB/s.
    const bytes = 2 * (32 * (4 * 4096 ** 2 + 3 * 4096 * 11_008) + 32_000 * 4096);
    expect(weightsUs(1)).toBeCloseTo(bytes / 3.35e6, 6);
    expect(weightsUs(500)).toBe(weightsUs(1));
  });

  it('reads the experts that tokens reach', () => {
    const { weightsUs } = workOf('mistralai/mixtral-8x7b-v0.1', 'H100', 2);
    const always = weightsUs(0);
    const all = weightsUs(10_000) - always;
    expect((weightsUs(1) - always) / all).toBeCloseTo(2 / 8, 9);
    expect((weightsUs(2) - always) / all).toBeCloseTo(1 - (6 / 8) ** 2, 9);
  });

  it('is shared by the GPUs of a split model, which exchange activations', () => {
    const one = workOf('meta-llama/llama-3.1-70b-instruct', 'H200');
    const four = workOf('meta-llama/llama-3.1-70b-instruct', 'H200', 4);
    expect(four.weightsUs(1)).toBeCloseTo(one.weightsUs(1) / 4, 9);
    expect(four.tokenUs).toBeCloseTo(one.tokenUs / 4, 9);
    expect([one.split, one.tokenBytesSent]).toEqual([false, 0]);
    // Two sums per layer of 8192 elements of 2 bytes, each sent 2 x 3/4 times.
    expect([four.split, four.tokenBytesSent]).toEqual([true, 80 * 2 * 8192 * 2 * 1.5]);
  });

  it('is shared by data-parallel ranks, but for the weights that each of them has', () => {
    const one = workOf('qwen/qwen3-30b-a3b');
    const two = workOf('qwen/qwen3-30b-a3b', 'H100', 1, 2);
    expect(two.tokenUs).toBeCloseTo(one.tokenUs / 2, 9);
    expect(two.contextUs).toBeCloseTo(one.contextUs / 2, 9);
    expect(two.weightsUs(0)).toBe(one.weightsUs(0));
    expect(two.weightsUs(9999) - two.weightsUs(0)).toBeCloseTo((one.weightsUs(9999) - one.weightsUs(0)) / 2, 6);
    expect(two.tokenBytesSent).toBeGreaterThan(0);
  });
});

describe('the costs of a step', () => {
  const work = workOf('qwen/qwen3-14b');
  const costs = (change: Partial<PhysicsCoefficients>) => physicsCosts(work, { ...DATA_SHEET, ...change });

  it('adds reading and computing, or lets one hide the other', () => {
    const at = (overlap: number) => costs({ overlap }).step.decodeOnly.find(({ tokens }) => tokens === 256)!.us;
    const reading = work.weightsUs(256);
    const computing = 256 * work.tokenUs;
    expect(at(1)).toBeCloseTo(reading + computing, 6);
    expect(at(2)).toBeCloseTo(Math.hypot(reading, computing), 6);
    expect(at(100)).toBeCloseTo(Math.max(reading, computing), 0);
  });

  it('takes longer for what is reached of the data sheet', () => {
    const half = costs({ contextShare: 0.5, attentionShare: 0.25 }).step;
    expect(half.decodeContextUs).toBe(2 * work.contextUs);
    expect(half.prefillPairUs).toBe(4 * work.pairUs);
  });

  it('has costs per layer, more with prompts and in a split model', () => {
    const { decodeOnly, withPrefill } = costs({ layerUs: 10, splitLayerUs: 5, promptLayerUs: 3 }).step;
    const bare = costs({}).step.decodeOnly[0]!.us;
    expect(decodeOnly[0]!.us - bare).toBeCloseTo(40 * 10, 6);
    expect(withPrefill[0]!.us - bare).toBeCloseTo(40 * 13, 6);
    const split = workOf('qwen/qwen3-14b', 'H100', 2);
    const us = (splitLayerUs: number) => physicsCosts(split, { ...DATA_SHEET, splitLayerUs }).step.decodeOnly[0]!.us;
    expect(us(5) - us(0)).toBeCloseTo(40 * 5, 6);
  });
});

describe('physics', () => {
  const stepUs = (gpu: string) => physics.create(setupOf('qwen/qwen3-14b', gpu), () => {}).stepUs;

  it('takes a prompt token at what an H100 needs, not at a tenth of it', () => {
    const steps = stepUs('H100');
    const perToken = (steps(shapeOf([whole(4000)])) - steps(shapeOf([whole(2000)]))) / 2000;
    expect(perToken).toBeGreaterThan(39);
    expect(perToken).toBeLessThan(50);
  });

  it('knows the family of a GPU, and says so where none was measured', () => {
    expect(gpuFamily('a100-sxm').name).toBe('A100');
    const warnings: string[] = [];
    physics.create(setupOf('qwen/qwen3-14b', 'B200'), (line) => warnings.push(line));
    expect(warnings).toEqual([expect.stringContaining('no run on B200 was measured')]);
    physics.create(setupOf('qwen/qwen3-14b', 'H100'), (line) => warnings.push(line));
    expect(warnings).toHaveLength(1);
  });

  it('refuses a model whose MLP is not described', () => {
    const setup = setupOf('qwen/qwen3-14b');
    expect(() => physics.create({ ...setup, model: { ...setup.model, intermediate: 0 } }, () => {})).toThrow(
      expect.objectContaining({ name: 'InputError', message: expect.stringContaining('intermediate_size') }),
    );
  });
});
