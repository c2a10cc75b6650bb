import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cataloguePath } from './catalogue-path.js';
import { loadGpu } from './gpu-catalogue.js';
import { servingDefaults } from './serving-defaults.js';

describe('servingDefaults', () => {
  it.each([
    ['qwen/qwen3-14b', 1],
    ['Qwen/Qwen3-14B', 1],
    ['qwen3-14b', 1],
    ['foo/qwen3-14b', 1],
    ['llama-3.1-8b-instruct', 1],
    ['meta-llama/llama-3.1-8b-instruct', 1],
    ['qwen/qwen2.5-7b-instruct', 1],
    ['meta-llama/llama-2-7b-hf', 1],
    ['qwen/qwen3-coder-30b-a3b', 1],
    ['codellama/codellama-34b-instruct-hf', 2],
    ['mistralai/mixtral-8x7b-v0.1', 2],
    ['mixtral-8x7b', 2],
    ['meta-llama/llama-3.1-70b-instruct', 4],
    ['meta-llama/llama-3.3-70b-instruct', 4],
    ['redhatai/llama-4-scout-17b-16e-instruct-fp8-dynamic', 4],
  ])('%s: H100 x%i', (name, tp) => {
    expect(servingDefaults(name)).toEqual({ hardware: 'H100', tp });
  });

  it.each(['qwen/qwen3-30b-a3b', 'qwen3-14b-base', 'mixtral-8x7bis', '01-ai/yi-34b', 'toString'])(
    '%s: none',
    (name) => {
      expect(servingDefaults(name)).toBeUndefined();
    },
  );

  it('names GPUs that exist', () => {
    const entries = JSON.parse(readFileSync(cataloguePath('defaults.json'), 'utf8'));
    for (const [name, { hardware, tp, ...rest }] of Object.entries<Record<string, unknown>>(entries)) {
      expect(name).toBe(name.toLowerCase());
      expect(loadGpu(hardware as string).name).toBe(hardware);
      expect(tp).toBeGreaterThanOrEqual(1);
      expect(rest).toEqual({});
    }
  });
});
