import { describe, expect, it } from 'vitest';
import { loadGpu } from '../catalogue/gpu-catalogue.js';
import { loadModel } from '../catalogue/model-catalogue.js';
import { emptyShape } from './batch-shape.js';
import type { BatchShape, LatencyModelKind, LatencySetup } from './contract.js';
import { fakeProfile } from './fake-profile.fixture.js';
import { DEFAULT_MOE_COMM_BACKEND } from './moe-comm.js';

/** One request of a batch: `done` tokens were computed before the step, `tokens` are new. */
export interface Prefill {
  input: number;
  done: number;
  tokens: number;
}

/** The sums of a batch, request by request; `decodes` are the contexts of the decoding requests. */
export function shapeOf(prefills: readonly Prefill[], decodes: readonly number[] = []): BatchShape {
  const shape = emptyShape();
  for (const { input, done, tokens } of prefills) {
    shape.scheduled += 1;
    shape.prefills += 1;
    shape.prefillTokens += tokens;
    shape.prefillContext += done;
    shape.prefillFullAttention += tokens * (input + tokens / 2);
    shape.prefillCausalAttention += tokens * (done + (tokens - 1) / 2);
    shape.prefillPairs += tokens * (done + (tokens + 1) / 2);
    shape.prefillLongest = Math.max(shape.prefillLongest, done + tokens);
    shape.heldTokens += done + tokens;
  }
  for (const context of decodes) {
    shape.scheduled += 1;
    shape.decodes += 1;
    shape.decodeContext += context;
    shape.decodeLongest = Math.max(shape.decodeLongest, context);
    shape.heldTokens += context;
  }
  return shape;
}

export function whole(input: number): Prefill {
  return { input, done: 0, tokens: input };
}

export function setupOf(model: string, gpu = 'H100', tp = 1, dp = 1, backend = DEFAULT_MOE_COMM_BACKEND): LatencySetup {
  const parallelism = { tp, dp, moeCommBackend: backend };
  return { model: loadModel(model), gpu: loadGpu(gpu), parallelism, profile: fakeProfile() };
}

const SETUPS: [string, LatencySetup][] = [
  ['dense', setupOf('qwen/qwen3-14b')],
  ['dense, 4 GPUs', setupOf('llama-3.1-70b-instruct', 'H100', 4)],
  ['slow GPU', setupOf('llama-3.1-8b-instruct', 'L40S')],
  ['uniform experts', setupOf('mixtral-8x7b-v0.1', 'A100-80', 2)],
  ['interleaved experts, FP8', setupOf('llama-4-scout-17b-16e-instruct-fp8-dynamic', 'H100', 4)],
  ['shared experts, 2 ranks', setupOf('deepseek-v2-lite', 'H100', 2, 2)],
  ['all-to-all', setupOf('qwen3-30b-a3b', 'H100', 1, 4, 'pplx')],
];

/** Growing batches: each is the one before with more tokens, more context or one more request. */
const GROWING: BatchShape[] = [
  emptyShape(),
  shapeOf([], [1]),
  shapeOf([], [500]),
  shapeOf([], [500, 3000]),
  shapeOf([whole(64)], [500, 3000]),
  shapeOf([whole(2000)], [500, 3000]),
  shapeOf([{ input: 9000, done: 7000, tokens: 2000 }], [500, 3000]),
  shapeOf([{ input: 9000, done: 7000, tokens: 2000 }, whole(2000)], [500, 3000]),
];

/** What the replica relies on, for every latency model. */
export function latencyContract(kind: LatencyModelKind): void {
  describe(`${kind.name} keeps the contract of latency models`, () => {
    it.each(SETUPS)('%s: whole numbers, at least 1, never less for more work', (_, setup) => {
      const model = kind.create(setup, () => {});
      let before = 1;
      for (const shape of GROWING) {
        const us = model.stepUs(shape);
        expect(Number.isSafeInteger(us)).toBe(true);
        expect(us).toBeGreaterThanOrEqual(before);
        before = us;
      }
      expect(before).toBeGreaterThan(model.stepUs(shapeOf([], [500])));
    });

    it.each(SETUPS)('%s: overheads are whole and not negative', (_, setup) => {
      const { queueingUs, outputTokenUs, postDecodeUs } = kind.create(setup, () => {});
      for (const us of [queueingUs, outputTokenUs, postDecodeUs]) {
        expect(Number.isSafeInteger(us)).toBe(true);
        expect(us).toBeGreaterThanOrEqual(0);
      }
    });

    it('takes 1 microsecond for an empty batch', () => {
      expect(kind.create(setupOf('qwen3-14b'), () => {}).stepUs(emptyShape())).toBe(1);
    });

    it('reads the shape and leaves it as it was', () => {
      const shape = shapeOf([whole(100)], [7, 8]);
      const copy = { ...shape };
      const model = kind.create(setupOf('qwen3-14b'), () => {});
      expect(model.stepUs(shape)).toBe(model.stepUs(shape));
      expect(shape).toEqual(copy);
    });

    it('caps what cannot be counted exactly', () => {
      const model = kind.create(setupOf('qwen3-14b'), () => {});
      const huge = { ...shapeOf([], [1]), decodeContext: Number.MAX_VALUE };
      expect(model.stepUs(huge)).toBe(Number.MAX_SAFE_INTEGER);
      expect(model.stepUs({ ...huge, decodeContext: Number.NaN })).toBe(Number.MAX_SAFE_INTEGER);
    });

    it.each([
      ['--tp', { ...setupOf('qwen3-14b'), parallelism: { ...setupOf('qwen3-14b').parallelism, tp: 3 } }, /40/],
      ['--tp', { ...setupOf('qwen3-14b'), parallelism: { ...setupOf('qwen3-14b').parallelism, tp: 0 } }, /at least 1/],
      ['--tp', setupOf('qwen3-14b', 'H100', 1.5), /at least 1/],
      ['--tp', setupOf('qwen3-14b', 'H100', 5), /8 KV heads; give one of 1, 2, 4, 8$/],
      ['--dp', setupOf('qwen3-14b', 'H100', 1, 2), /not a mixture of experts/],
      ['--dp', setupOf('qwen3-30b-a3b', 'H100', 1, 0), /at least 1/],
      ['--moe-comm-backend', setupOf('qwen3-30b-a3b', 'H100', 1, 1, 'ppx'), /did you mean 'pplx'/],
    ])('refuses a bad %s (%#)', (place, setup, message) => {
      expect(() => kind.create(setup, () => {})).toThrow(
        expect.objectContaining({ name: 'InputError', place, message: expect.stringMatching(message) }),
      );
    });
  });
}
