import { describe, expect, it } from 'vitest';
import { emptyShape } from '../batch-shape.js';
import type { LatencySetup } from '../contract.js';
import { setupOf, shapeOf, whole } from '../latency.contract.js';
import { trainedPhysics } from './trained-physics.js';

const quiet = () => {};
const create = (setup: LatencySetup) => trainedPhysics.create(setup, quiet);
/**
 * Coefficients under which exactly one term of a step counts, so that its basis shows; `scale` makes digits visible.
 */
const only = (index: number, scale: number, length = 11) => {
  const beta = Array.from({ length }, (_, i) => (i === index ? scale : 0));
  return { alpha: [0, 0, 0], beta };
};

describe('trained-physics, fitted coefficients', () => {
  const qwen = create(setupOf('qwen/qwen3-14b'));

  it('has the fixed overheads of the fit', () => {
    expect([qwen.queueingUs, qwen.postDecodeUs, qwen.outputTokenUs]).toEqual([15563, 777, 45]);
  });

  it('reproduces the worked steps of qwen3-14b on one H100', () => {
    expect(qwen.stepUs(shapeOf([whole(62)]))).toBe(12414);
    expect(qwen.stepUs(shapeOf([], [62]))).toBe(12167);
    expect(qwen.stepUs(shapeOf([whole(2000)]))).toBe(21042);
    expect(qwen.stepUs(shapeOf([whole(2000)], [62]))).toBe(21052);
  });

  it('adds up to the end-to-end time of a worked request', () => {
    const ttft = qwen.queueingUs + qwen.stepUs(shapeOf([whole(62)])) + qwen.outputTokenUs;
    expect(ttft).toBe(28022);
    let e2e = ttft + qwen.postDecodeUs;
    for (let context = 62; context < 71; context++) e2e += qwen.stepUs(shapeOf([], [context])) + qwen.outputTokenUs;
    expect(e2e).toBe(138711);
  });

  it.each([
    ['mixtral-8x7b-v0.1', 'H100', 2, 427, 36543],
    ['llama-3.1-70b-instruct', 'H100', 4, 988 + 404, 41072],
    ['llama-3.1-8b-instruct', 'L40S', 1, 74, 39214],
    ['llama-4-scout-17b-16e-instruct-fp8-dynamic', 'H100', 4, 92, 34751],
    ['llama-4-scout-17b-16e-instruct-fp8-dynamic', 'H100', 4, 595, 35161],
  ])('reproduces the reference first token of %s on %s x%i for %i tokens', (model, gpu, tp, input, ttft) => {
    const latency = create(setupOf(model, gpu, tp));
    expect(latency.queueingUs + latency.stepUs(shapeOf([whole(input)])) + latency.outputTokenUs).toBe(ttft);
  });

  it('charges a prefill chunk for its whole input, wherever it starts', () => {
    const first = shapeOf([{ input: 8000, done: 0, tokens: 2000 }]);
    const last = shapeOf([{ input: 8000, done: 6000, tokens: 2000 }]);
    expect(qwen.stepUs(first)).toBe(qwen.stepUs(last));
    expect(qwen.stepUs(first)).toBeGreaterThan(qwen.stepUs(shapeOf([whole(2000)])));
  });
});

describe('trained-physics, the terms one by one', () => {
  it('prefill compute', () => {
    // qwen3-14b, 62 tokens: 1660.453410 microseconds of compute at the full rate.
    expect(create({ ...setupOf('qwen3-14b'), ...only(0, 1e6) }).stepUs(shapeOf([whole(62)]))).toBe(1660453410);
  });

  it('weights', () => {
    expect(create({ ...setupOf('qwen3-14b'), ...only(2, 1e6) }).stepUs(shapeOf([], [1]))).toBe(7887795582);
  });

  it('decode KV traffic, halved by a second GPU', () => {
    const us = (tp: number) =>
      create({ ...setupOf('qwen3-14b', 'H100', tp), ...only(9, 1e6) }).stepUs(shapeOf([], [62]));
    expect(us(1)).toBe(3081170);
    expect(us(2)).toBe(Math.trunc((40 * 2 * 512 * 2 * 63) / 3.35));
  });

  it('all-reduce of attention and MLP, nothing on one GPU', () => {
    const us = (model: string, tp: number, dp = 1) =>
      create({ ...setupOf(model, 'H100', tp, dp), ...only(3, 1e6, 10) }).stepUs(shapeOf([whole(10)], [5, 5]));
    expect(us('qwen3-14b', 1)).toBe(1);
    expect(us('qwen3-14b', 2)).toBe(Math.trunc((2 * 40 * 12 * 5120 * 2 * 2 * 0.5) / 3.35));
    // A mixture of experts reduces its expert layers instead of dense ones.
    expect(us('mixtral-8x7b-v0.1', 2)).toBe(Math.trunc((2 * 32 * 12 * 4096 * 2 * 2 * 0.5) / 3.35));
  });

  it('expert dispatch across ranks, once per expert in the all-to-all family', () => {
    const us = (backend: string) =>
      create({ ...setupOf('qwen3-30b-a3b', 'H100', 2, 2, backend), ...only(10, 1e6) }).stepUs(
        shapeOf([whole(10)], [5, 5]),
      );
    const once = (48 * (12 / 2) * 0.75 * 2 * 2048 * 2) / 3.35;
    expect(us('allgather_reducescatter')).toBe(Math.trunc(once));
    expect(us('naive')).toBe(Math.trunc(once));
    for (const backend of ['pplx', 'deepep_high_throughput', 'deepep_low_latency', 'mori', 'flashinfer_all2allv']) {
      expect(us(backend)).toBe(Math.trunc(once * 8));
    }
  });

  it('with several ranks the dispatch replaces the reduction of expert layers', () => {
    const us = create({ ...setupOf('qwen3-30b-a3b', 'H100', 2, 2), ...only(3, 1e6, 11) }).stepUs(shapeOf([whole(12)]));
    expect(us).toBe(Math.trunc((48 * 12 * 2048 * 2 * 2 * 0.5) / 3.35 / 2));
  });

  it('layers, requests, step', () => {
    const us = (index: number) =>
      create({ ...setupOf('qwen3-14b'), ...only(index, 10) }).stepUs(shapeOf([whole(9)], [5, 5]));
    expect([us(4), us(5), us(6)]).toEqual([400, 30, 10]);
  });

  it('interleaved expert layers only', () => {
    const us = (model: string) => create({ ...setupOf(model, 'H100', 2), ...only(7, 10) }).stepUs(shapeOf([], [5]));
    expect(us('llama-4-scout-17b-16e-instruct-fp8-dynamic')).toBe(240);
    expect(us('mixtral-8x7b-v0.1')).toBe(1);
    expect(us('qwen3-14b')).toBe(1);
  });

  it('FP8 rate for one-byte weights', () => {
    const setup = { ...setupOf('glm-5.2-fp8', 'H100', 8), ...only(0, 1) };
    const slow = { ...setup, gpu: { ...setup.gpu, tflopsFp8: 0 } };
    const shape = shapeOf([whole(2000)]);
    expect(create(slow).stepUs(shape) / create(setup).stepUs(shape)).toBeCloseTo(2, 3);
  });

  it('shared experts count for every token', () => {
    const setup = { ...setupOf('deepseek-v2-lite'), ...only(2, 1e6) };
    const without = { ...setup, model: { ...setup.model, sharedExpertIntermediate: 0 } };
    const bytes = 27 * 3 * 2048 * 2816 * 2;
    const weightsOnly = { ...emptyShape(), scheduled: 1 };
    const difference = create(setup).stepUs(weightsOnly) - create(without).stepUs(weightsOnly);
    expect(Math.abs(difference - bytes / 3.35)).toBeLessThanOrEqual(1);
  });
});

describe('trained-physics, coefficients of the user', () => {
  const shape = shapeOf([whole(2000)]);
  const kvUs = (40 * 2 * 1024 * 2000 * 2) / 3.35;
  const step = (alpha?: number[], beta?: number[]) => {
    const given = { ...(alpha && { alpha }), ...(beta && { beta }) };
    return create({ ...setupOf('qwen3-14b'), ...given }).stepUs(shape);
  };

  it('reproduces the reference first token', () => {
    const beta = [0.3, 0.1, 1.1, 0.5, 20, 3, 100, 0, 0.2, 1.5];
    const latency = create({ ...setupOf('qwen3-14b'), alpha: [1000, 200, 10], beta });
    expect([latency.queueingUs, latency.postDecodeUs, latency.outputTokenUs]).toEqual([1000, 200, 10]);
    expect(latency.queueingUs + latency.stepUs(shapeOf([whole(1538)])) + latency.outputTokenUs).toBe(23807);
  });

  it('has separate prefill terms from 9 values on, the larger of both below', () => {
    const compute = step([0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(step([0, 0, 0], [1, 0, 0, 0, 0, 0, 0])).toBe(compute);
    expect(step([0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 1e6])).toBe(Math.trunc(kvUs));
  });

  it('has separate decode terms from 10 values on, the larger of both below', () => {
    const decode = (beta: number[]) =>
      create({ ...setupOf('qwen3-14b'), alpha: [0, 0, 0], beta }).stepUs(shapeOf([], [4000]));
    // At long contexts a decode reads far longer than it computes.
    const kv = Math.trunc((40 * 2 * 1024 * 2 * 4001) / 3.35);
    expect(decode([0, 1e6, 0, 0, 0, 0, 0, 0, 0])).toBe(kv);
    expect(decode([0, 1e6, 0, 0, 0, 0, 0, 0, 0, 0])).toBeLessThan(kv);
    expect(decode([0, 0, 0, 0, 0, 0, 0, 0, 0, 1e6])).toBe(kv);
  });

  it('uses the all-reduce weight for a dispatch weight that is not given', () => {
    const setup = setupOf('qwen3-30b-a3b', 'H100', 1, 2);
    const us = (beta: number[]) => create({ ...setup, alpha: [0, 0, 0], beta }).stepUs(shape);
    const ten = [0, 0, 0, 1e6, 0, 0, 0, 0, 0, 0];
    expect(us(ten)).toBe(us([...ten, 1e6]));
    expect(us(ten)).toBeGreaterThan(1);
    expect(us([...ten, 0])).toBe(1);
  });

  it.each([
    ['--beta-coeffs', [1, 2, 3], undefined, /missing/],
    ['--alpha-coeffs', undefined, [1, 1, 1, 1, 1, 1, 1], /missing/],
    ['--alpha-coeffs', [1, 2], [1, 1, 1, 1, 1, 1, 1], /2 values; give 3/],
    ['--alpha-coeffs', [1, 2, 3, 4], [1, 1, 1, 1, 1, 1, 1], /4 values; give 3/],
    ['--beta-coeffs', [1, 2, 3], [1, 1, 1, 1, 1, 1], /6 values; give 7 to 11/],
    ['--beta-coeffs', [1, 2, 3], new Array(12).fill(1), /12 values; give 7 to 11/],
    ['--alpha-coeffs', [1, -2, 3], [1, 1, 1, 1, 1, 1, 1], /value 2 is -2/],
    ['--beta-coeffs', [1, 2, 3], [1, 1, Number.NaN, 1, 1, 1, 1], /value 3 is NaN/],
    ['--beta-coeffs', [1, 2, 3], [1, 1, 1, 1, 1, 1, Number.POSITIVE_INFINITY], /value 7 is Infinity/],
  ])('refuses bad %s (%#)', (place, alpha, beta, message) => {
    expect(() => step(alpha, beta)).toThrow(
      expect.objectContaining({ code: 'BAD_COEFFICIENTS', place, message: expect.stringMatching(message) }),
    );
  });
});

describe('trained-physics, what it can be used for', () => {
  it.each(['H100', 'A100-SXM', 'A100-80', 'L40S'])('prints no warning on %s', (gpu) => {
    const lines: string[] = [];
    trainedPhysics.create(setupOf('qwen2.5-7b-instruct', gpu), (line) => lines.push(line));
    expect(lines).toEqual([]);
  });

  it.each(['H200', 'MI300X', 'A10G'])('warns once that it was not fitted on %s', (gpu) => {
    const lines: string[] = [];
    trainedPhysics.create(setupOf('qwen2.5-7b-instruct', gpu), (line) => lines.push(line));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`fitted on H100, A100 and L40S.*${gpu}`));
  });

  it('does not warn when the user brings own coefficients', () => {
    const lines: string[] = [];
    const own = { alpha: [0, 0, 0], beta: [1, 1, 1, 1, 1, 1, 1] };
    trainedPhysics.create({ ...setupOf('qwen3-14b', 'H200'), ...own }, (line) => lines.push(line));
    expect(lines).toEqual([]);
  });

  it('refuses more GPUs than KV heads', () => {
    expect(() => create(setupOf('qwen3-30b-a3b', 'H100', 8))).toThrow(
      expect.objectContaining({ code: 'UNEVEN_TP', place: '--tp' }),
    );
  });

  it('refuses a model without an MLP size', () => {
    const setup = setupOf('qwen3-14b');
    expect(() => create({ ...setup, model: { ...setup.model, intermediate: 0, denseIntermediate: 0 } })).toThrow(
      expect.objectContaining({ code: 'MODEL_LACKS_FIELD', place: expect.stringContaining('intermediate_size') }),
    );
  });
});
