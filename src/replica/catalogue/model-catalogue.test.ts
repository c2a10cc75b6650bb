import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundledModels, loadModel } from './model-catalogue.js';

describe('bundled models', () => {
  /** folder: layers, hidden, heads, KV heads, MLP, vocabulary, bytes, bytes per weight, context, experts, per token. */
  const table: Record<string, number[]> = {
    'codellama-34b-instruct-hf': [48, 8192, 64, 8, 22016, 32000, 2, 2, 16384, 0, 0],
    'deepseek-v2-lite': [27, 2048, 16, 16, 10944, 102400, 2, 2, 163840, 64, 6],
    'glm-5.2-fp8': [78, 6144, 64, 64, 12288, 154880, 2, 1, 1048576, 256, 8],
    'llama-2-7b-hf': [32, 4096, 32, 32, 11008, 32000, 2, 2, 4096, 0, 0],
    'llama-3.1-70b-instruct': [80, 8192, 64, 8, 28672, 128256, 2, 2, 131072, 0, 0],
    'llama-3.1-8b-instruct': [32, 4096, 32, 8, 14336, 128256, 2, 2, 131072, 0, 0],
    'llama-3.3-70b-instruct': [80, 8192, 64, 8, 28672, 128256, 2, 2, 131072, 0, 0],
    'llama-4-scout-17b-16e-instruct-fp8-dynamic': [48, 5120, 40, 8, 8192, 202048, 2, 1, 10485760, 16, 1],
    'mistral-nemo-instruct-2407': [40, 5120, 32, 8, 14336, 131072, 2, 2, 131072, 0, 0],
    'mixtral-8x7b-v0.1': [32, 4096, 32, 8, 14336, 32000, 2, 2, 32768, 8, 2],
    'qwen2.5-7b-instruct': [28, 3584, 28, 4, 18944, 152064, 2, 2, 32768, 0, 0],
    'qwen3-14b': [40, 5120, 40, 8, 17408, 151936, 2, 2, 40960, 0, 0],
    'qwen3-30b-a3b': [48, 2048, 32, 4, 6144, 151936, 2, 2, 40960, 128, 8],
    'qwen3-coder-30b-a3b': [48, 2048, 32, 4, 6144, 151936, 2, 2, 262144, 128, 8],
    'yi-34b': [60, 7168, 56, 8, 20480, 64000, 2, 2, 4096, 0, 0],
  };

  it('are these', () => {
    expect(bundledModels()).toEqual(Object.keys(table).sort());
  });

  it.each(Object.entries(table))('%s', (folder, dimensions) => {
    const m = loadModel(folder);
    expect([m.layers, m.hidden, m.heads, m.kvHeads, m.intermediate, m.vocab, m.bytesPerParam]).toEqual(
      dimensions.slice(0, 7),
    );
    expect([m.weightBytesPerParam, m.maxContext, m.experts, m.expertsPerToken]).toEqual(dimensions.slice(7));
    expect([m.tiedEmbeddings, m.activation]).toEqual([false, 'silu']);
  });

  it('have the special dimensions of their family', () => {
    expect(loadModel('deepseek-v2-lite')).toMatchObject({
      moeIntermediate: 1408,
      sharedExpertIntermediate: 2816,
      firstDense: 1,
      kvLoraRank: 512,
      qkRopeHeadDim: 64,
      headDim: null,
    });
    expect(loadModel('glm-5.2-fp8')).toMatchObject({
      headDim: 192,
      moeIntermediate: 2048,
      sharedExpertIntermediate: 2048,
      firstDense: 3,
      kvLoraRank: 512,
      qkRopeHeadDim: 64,
    });
    expect(loadModel('llama-4-scout-17b-16e-instruct-fp8-dynamic')).toMatchObject({
      headDim: 128,
      interleave: 1,
      moeIntermediate: 8192,
      denseIntermediate: 16384,
    });
    expect(loadModel('mistral-nemo-instruct-2407').headDim).toBe(128);
    expect(loadModel('qwen3-coder-30b-a3b').moeIntermediate).toBe(768);
  });
});

describe('loadModel', () => {
  it('takes names in any case and with any organisation', () => {
    expect(loadModel('Qwen/Qwen3-14B')).toEqual({ ...loadModel('qwen3-14b'), name: 'qwen/qwen3-14b' });
    expect(loadModel('somebody/qwen3-14b').layers).toBe(40);
  });

  it('names the nearest model for an unknown one', () => {
    expect(() => loadModel('qwen/qwen3-14')).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_MODEL',
        place: '--model',
        problem: "'qwen/qwen3-14' is not in the catalogue",
        hint: expect.stringMatching(/^did you mean 'qwen3-14b'\? known: codellama.*--model-config-folder$/),
      }),
    );
  });

  it.each(['', 'x/../qwen3-14b', '../models/qwen3-14b', 'a/b/qwen3-14b', 'qwen/'])(
    'does not wander off for %j',
    (name) => {
      expect(() => loadModel(name)).toThrow(expect.objectContaining({ code: 'UNKNOWN_MODEL' }));
    },
  );
});

describe('loadModel with a folder of the user', () => {
  let root: string;
  const config = { num_hidden_layers: 3, hidden_size: 64, num_attention_heads: 8, torch_dtype: 'float16' };
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'models-'));
    for (const [folder, text] of [
      ['My-Model', JSON.stringify(config)],
      ['qwen3-14b', JSON.stringify({ ...config, num_hidden_layers: 5 })],
      ['broken', '{"hidden_size": }'],
    ] as const) {
      mkdirSync(join(root, folder));
      writeFileSync(join(root, folder, 'config.json'), text);
    }
    mkdirSync(join(root, 'empty'));
    mkdirSync(join(root, 'odd', 'config.json'), { recursive: true });
  });
  afterAll(() => rmSync(root, { recursive: true }));

  it('finds the model among its folders, in any case', () => {
    expect(loadModel('org/my-model', { modelConfigFolder: root })).toMatchObject({ name: 'org/my-model', layers: 3 });
  });

  it('takes a folder that is the model itself, under any name', () => {
    expect(loadModel('org/other', { modelConfigFolder: join(root, 'My-Model') }).layers).toBe(3);
  });

  it('takes precedence over the bundled catalogue', () => {
    expect(loadModel('qwen/qwen3-14b', { modelConfigFolder: root }).layers).toBe(5);
  });

  it('is never ignored', () => {
    expect(() => loadModel('qwen3-30b-a3b', { modelConfigFolder: root })).toThrow(
      expect.objectContaining({ code: 'NO_MODEL_CONFIG', place: '--model-config-folder' }),
    );
    expect(() => loadModel('my-modle', { modelConfigFolder: root })).toThrow(/did you mean 'My-Model'/);
    expect(() => loadModel('qwen3-14b', { modelConfigFolder: join(root, 'empty') })).toThrow(
      /give the folder of the model/,
    );
  });

  it('names a folder or file that cannot be read', () => {
    const nowhere = join(root, 'nowhere');
    expect(() => loadModel('m', { modelConfigFolder: nowhere })).toThrow(
      expect.objectContaining({ code: 'FILE_NOT_READABLE', place: `--model-config-folder ${nowhere}` }),
    );
    expect(() => loadModel('odd', { modelConfigFolder: root })).toThrow(
      expect.objectContaining({ code: 'FILE_NOT_READABLE', place: join(root, 'odd', 'config.json') }),
    );
  });

  it('names file, line and column of malformed JSON', () => {
    expect(() => loadModel('broken', { modelConfigFolder: root })).toThrow(
      expect.objectContaining({ code: 'MALFORMED_JSON', place: `${join(root, 'broken', 'config.json')}:1:17` }),
    );
  });
});
