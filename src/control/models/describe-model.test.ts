import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cataloguePath } from '../../replica/catalogue/catalogue-path.js';
import { bundledModels, loadModel } from '../../replica/catalogue/model-catalogue.js';
import { describeModel } from './describe-model.js';
import type { ModelSource } from './description/model-source.js';
import { folderSource, registrySource } from './description/model-source.js';
import { FakeClock } from './fake-clock.fixture.js';
import { FakeHub } from './fake-hub.fixture.js';
import { safetensors, TINY_CONFIG, withHeader } from './fake-model.fixture.js';
import { openRegistry } from './registry.js';

/** A model in memory. */
function source(files: Readonly<Record<string, string | object | Buffer>>): ModelSource {
  const bytes = new Map(
    Object.entries(files).map(([path, file]) => [
      path,
      Buffer.isBuffer(file) ? file : Buffer.from(typeof file === 'string' ? file : JSON.stringify(file)),
    ]),
  );
  return {
    place: 'tiny',
    sizes: new Map([...bytes].map(([path, one]) => [path, one.length])),
    read: async (path, offset, length) => bytes.get(path)!.subarray(offset, offset + length),
  };
}

const describeTiny = (files: Parameters<typeof source>[0], name = 'acme/Tiny') =>
  describeModel(source({ 'config.json': TINY_CONFIG, ...files }), name);

/** Embeddings, two layers of attention and MLP, norms: as the config has them. */
const TENSORS = {
  'model.embed_tokens.weight': { dtype: 'BF16', shape: [256, 64] },
  'model.layers.0.weight': { dtype: 'BF16', shape: [100, 64] },
  'model.norm.weight': { dtype: 'F32', shape: [64] },
};
const COUNTED = 256 * 64 + 100 * 64 + 64;

describe('describeModel', () => {
  it('returns the dimensions and what follows from them', async () => {
    const attention = 64 * (64 + 2 * 2 * 8) + 64 * 64 + 2 * 64;
    const parameters = 2 * 256 * 64 + 2 * attention + 2 * 3 * 64 * 128 + 64;
    expect(await describeTiny({})).toEqual({
      name: 'acme/Tiny',
      architecture: 'LlamaForCausalLM',
      layers: 2,
      heads: 8,
      kvHeads: 2,
      headDim: 8,
      experts: 0,
      dtype: 'bfloat16',
      parameters,
      parametersCounted: false,
      weightBytes: 2 * parameters,
      weightBytesCounted: false,
      contextLength: 2048,
      kvBytesPerToken: 2 * 2 * 8 * 2 * 2,
      spec: expect.objectContaining({ name: 'acme/tiny', layers: 2, intermediate: 128 }),
    });
  });

  it.each(bundledModels())('reads %s as the simulator does', async (name) => {
    const config = readFileSync(join(cataloguePath('models'), name, 'config.json'), 'utf8');
    expect((await describeModel(source({ 'config.json': config }), name)).spec).toEqual(loadModel(name));
  });

  it('counts parameters and bytes in one file or several', async () => {
    const counted = { parameters: COUNTED, parametersCounted: true, weightBytesCounted: true };
    const bytes = 2 * (COUNTED - 64) + 4 * 64;
    expect(await describeTiny({ 'model.safetensors': safetensors(TENSORS) })).toMatchObject({
      ...counted,
      weightBytes: bytes,
    });
    const [first, ...rest] = Object.entries(TENSORS);
    const shards = {
      'model-00001-of-00002.safetensors': safetensors(Object.fromEntries([first!])),
      'model-00002-of-00002.safetensors': safetensors(Object.fromEntries(rest)),
    };
    expect(await describeTiny(shards)).toMatchObject({ ...counted, weightBytes: bytes });
    const index = { weight_map: { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' } };
    const more = { 'consolidated.safetensors': safetensors(TENSORS), 'model.safetensors.index.json': index };
    expect(await describeTiny({ ...shards, ...more })).toMatchObject({ ...counted, weightBytes: bytes });
  });

  it('counts duplicated weights once', async () => {
    const weights = safetensors(TENSORS);
    const files = { 'consolidated.safetensors': weights, 'model.safetensors': weights };
    expect((await describeTiny(files)).parameters).toBe(COUNTED);
    expect((await describeTiny({ 'consolidated.safetensors': weights })).parameters).toBe(COUNTED);
  });

  it.each([
    ['a shard is missing', { 'model-00001-of-00002.safetensors': safetensors(TENSORS) }],
    ['a shard of the index is missing', { 'model.safetensors.index.json': { weight_map: { a: 'b.safetensors' } } }],
  ])('estimates when %s', async (_, files) => {
    const { parameters, weightBytes } = await describeTiny({});
    expect(await describeTiny(files)).toMatchObject({
      parameters,
      weightBytes,
      parametersCounted: false,
      weightBytesCounted: false,
    });
  });

  it('ignores an empty index', async () => {
    const files = { 'model.safetensors': safetensors(TENSORS), 'model.safetensors.index.json': { weight_map: [] } };
    expect((await describeTiny(files)).parameters).toBe(COUNTED);
  });

  it('leaves out scales and buffers, and does not count packed weights', async () => {
    const more = {
      'a.weight_scale_inv': { dtype: 'F32', shape: [9, 9] },
      'b.position_ids': { dtype: 'I64', shape: [1, 512] },
      'c.g_idx': { dtype: 'I32', shape: [64] },
    };
    const plain = await describeTiny({ 'model.safetensors': safetensors({ ...TENSORS, ...more }) });
    expect([plain.parameters, plain.parametersCounted]).toEqual([COUNTED, true]);
    const packed = { ...TENSORS, 'd.qweight': { dtype: 'I32', shape: [8, 64] } };
    const estimated = await describeTiny({ 'model.safetensors': safetensors(packed) });
    expect([estimated.parametersCounted, estimated.weightBytesCounted]).toEqual([false, true]);
    expect(estimated.parameters).toBe((await describeTiny({})).parameters);
  });

  it.each([
    [{ 'a.gguf': 'x'.repeat(7), 'pytorch_model.bin': 'x' }, 7],
    [{ 'pytorch_model-1.bin': 'xx', 'pytorch_model-2.bin': 'xxx', 'a.pth': 'x' }, 5],
    [{ 'a.pth': 'x', 'original/b.pth': 'xx' }, 1],
  ])('returns the size of other formats (%#)', async (files, bytes) => {
    expect(await describeTiny(files)).toMatchObject({
      weightBytes: bytes,
      weightBytesCounted: true,
      parametersCounted: false,
    });
  });

  it('takes the type of the weights when the config has none', async () => {
    const { torch_dtype: _, ...config } = TINY_CONFIG;
    const weights = safetensors({ a: { dtype: 'F16', shape: [9] }, b: { dtype: 'F32', shape: [2] } });
    const described = await describeTiny({ 'config.json': config, 'model.safetensors': weights });
    expect([described.dtype, described.spec.bytesPerParam]).toEqual(['float16', 2]);
    await expect(describeTiny({ 'config.json': config })).rejects.toMatchObject({
      code: 'MISSING_FIELD',
      place: 'tiny/config.json (torch_dtype)',
    });
  });

  it.each([
    [{ model_max_length: 4096 }, 4096],
    [{ model_max_length: 1e30 }, null],
    [{ model_max_length: 'long' }, null],
    [undefined, null],
  ])('reads the context from the tokenizer when the config has none: %j', async (tokenizer, contextLength) => {
    const { max_position_embeddings: _, ...config } = TINY_CONFIG;
    const files = { 'config.json': config, ...(tokenizer === undefined ? {} : { 'tokenizer_config.json': tokenizer }) };
    expect((await describeTiny(files)).contextLength).toBe(contextLength);
  });

  it('returns null for unknown facts', async () => {
    const { architectures: _, vocab_size: __, ...config } = TINY_CONFIG;
    expect(await describeTiny({ 'config.json': config })).toMatchObject({
      architecture: null,
      parameters: null,
      weightBytes: null,
    });
  });

  it('recognises quantisation by the name', async () => {
    const whole = await describeTiny({});
    expect((await describeTiny({}, 'acme/tiny-FP8')).weightBytes).toBe(whole.weightBytes! / 2);
  });

  it('requires a config', async () => {
    await expect(describeModel(source({}), 'x')).rejects.toMatchObject({ code: 'MODEL_NO_CONFIG', place: 'tiny' });
    await expect(describeTiny({ 'config.json': '{' })).rejects.toMatchObject({
      code: 'MALFORMED_JSON',
      place: 'tiny/config.json:1:2',
    });
  });
});

describe('invalid weights', () => {
  const header = (value: unknown) => withHeader(Buffer.from(JSON.stringify(value)), 0);
  const tensor = { dtype: 'F32', shape: [1], data_offsets: [0, 4] };

  it.each([
    ['are too short', Buffer.alloc(7), 'is too short for a safetensors file'],
    ['have too long a header', Buffer.from('ffffffffffffff00', 'hex'), 'has no safetensors header'],
    ['have no JSON', withHeader(Buffer.from('{'), 0), 'has no safetensors header'],
    ['have no object', header([]), 'has no safetensors header'],
    ['lack bytes', header({ a: tensor }), 'has 62 bytes, but its header describes 66'],
    ['have no tensor', header({ a: 3 }), 'its header has no valid tensor at "a"'],
    ['have no type', header({ a: { ...tensor, dtype: 1 } }), 'its header has no valid tensor at "a"'],
    ['have an odd shape', header({ a: { ...tensor, shape: [-1] } }), 'its header has no valid tensor at "a"'],
    ['have odd offsets', header({ a: { ...tensor, data_offsets: [0] } }), 'its header has no valid tensor at "a"'],
  ])('%s', async (_, bytes, problem) => {
    await expect(describeTiny({ 'model.safetensors': bytes })).rejects.toMatchObject({
      code: 'MODEL_WEIGHTS',
      place: 'tiny/model.safetensors',
      problem,
    });
  });
});

describe('a source', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'twinyard-describe-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    vi.unstubAllEnvs();
  });
  const files = { 'config.json': Buffer.from(JSON.stringify(TINY_CONFIG)), 'model.safetensors': safetensors(TENSORS) };

  it('is a folder', async () => {
    for (const [path, bytes] of Object.entries(files)) writeFileSync(join(folder, path), bytes);
    mkdirSync(join(folder, 'more'));
    expect(await describeModel(await folderSource(folder), 'x')).toMatchObject({ parameters: COUNTED });
  });

  it('is a folder that may change', async () => {
    writeFileSync(join(folder, 'config.json'), '{}');
    const found = await folderSource(folder);
    await expect(found.read('config.json', 0, 3)).rejects.toMatchObject({
      code: 'MODEL_WEIGHTS',
      problem: 'is truncated',
    });
    rmSync(join(folder, 'config.json'));
    await expect(found.read('config.json', 0, 2)).rejects.toMatchObject({ code: 'REGISTRY_FOLDER' });
    await expect(folderSource(join(folder, 'none'))).rejects.toMatchObject({
      code: 'REGISTRY_FOLDER',
      problem: 'cannot be read (no such file)',
    });
    symlinkSync('nothing', join(folder, 'dangling'));
    await expect(folderSource(folder)).rejects.toMatchObject({ code: 'REGISTRY_FOLDER' });
  });

  it('is a registry, of which only headers are read', async () => {
    vi.stubEnv('http_proxy', '');
    const hub = await FakeHub.start();
    const clock = new FakeClock();
    const registry = openRegistry('hugging-face', { url: hub.url }, clock);
    hub.put('acme/tiny', 'main', files);
    const model = await registry.resolve('acme/tiny');
    const remote = registrySource(registry, model, undefined, clock);
    hub.once('/blobs/', (response) => response.writeHead(503).end());
    // A server that cannot skip sends it all.
    hub.once('/blobs/', (response, { headers }) => {
      expect(headers.range).toBeUndefined();
      response.writeHead(200).end(files['model.safetensors']);
    });
    hub.once('/blobs/', (response) => response.writeHead(200).end(files['model.safetensors']));
    expect(await describeModel(remote, 'x')).toMatchObject({ parameters: COUNTED, parametersCounted: true });
    expect(clock.slept).toEqual([1000]);
    hub.once('/blobs/', (response) => response.writeHead(200, { 'transfer-encoding': 'chunked' }).end('short'));
    await expect(remote.read('model.safetensors', 0, 8)).rejects.toMatchObject({ problem: 'is truncated' });
    await registry.close();
    await hub.stop();
  });
});
