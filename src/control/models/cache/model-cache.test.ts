import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileLock } from '../../../files/file-lock.js';
import type { ModelFile, ModelRegistry } from '../contract.js';
import { downloadModel } from '../download/download-model.js';
import { hubUnreachable } from '../errors.js';
import { FakeClock } from '../fake-clock.fixture.js';
import { sha256 } from '../fake-hub.fixture.js';
import { fakeBytes } from '../fake-model.fixture.js';
import { ModelCache } from './model-cache.js';

let folder: string;
let cache: ModelCache;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-models-'));
  cache = await ModelCache.open(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

it('is readable by its owner only', async () => {
  const { folder: made } = await ModelCache.open(join(folder, 'new'));
  expect(statSync(made).mode & 0o777).toBe(0o700);
});

it('reports a folder that cannot be used', async ({ skip }) => {
  writeFileSync(join(folder, 'file'), '');
  await expect(ModelCache.open(join(folder, 'file', 'a'))).rejects.toMatchObject({
    code: 'MODEL_CACHE',
    message: expect.stringContaining('is not a folder'),
  });
  skip(!existsSync('/proc/self'), 'there is no /proc here');
  await expect(ModelCache.open('/proc/twinyard/models')).rejects.toMatchObject({ code: 'MODEL_CACHE' });
});

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const registry: ModelRegistry = {
  address: 'tiny:',
  connect: async () => ({ connected: true }),
  list: async () => [],
  resolve: () => Promise.reject(new Error('not args')),
  open: async (_, { path, size }) => ({ begins: 0, bytes: pieces(fakeBytes(size, path)) }),
  close: async () => {},
};

/** A model of files that are named after their contents: the same name is the same bytes. */
function model(name: string, revision: string, ...paths: string[]) {
  const files = paths.map((path): ModelFile => {
    const hex = sha256(fakeBytes(1000, path));
    return { path, size: 1000, checksum: path.startsWith('plain') ? null : { algorithm: 'sha256', hex }, tag: null };
  });
  return { name, version: 'main', revision: revision.repeat(40), files, folder: null };
}

const download = async (...args: Parameters<typeof model>) =>
  (await downloadModel({ registry, model: model(...args), cache, clock: new FakeClock() })).folder;

/** What an interrupted download leaves: the first file, and nothing of the others. */
async function interrupt(...args: Parameters<typeof model>): Promise<void> {
  let opened = 0;
  const open: ModelRegistry['open'] = async (...args) => {
    if (opened++ > 0) throw hubUnreachable('tiny:', 'gone');
    return registry.open(...args);
  };
  const options = {
    registry: { ...registry, open },
    model: model(...args),
    cache,
    clock: new FakeClock(),
    parallel: 1,
  };
  await expect(downloadModel(options)).rejects.toMatchObject({ code: 'REGISTRY_UNREACHABLE' });
}

const blobs = () =>
  (readdirSync(join(folder, 'blobs'), { recursive: true }) as string[]).filter((one) => one.length > 2);
const shown = async () => (await cache.list()).map(({ complete, name, revision }) => [name, revision[0], complete]);

describe('list', () => {
  it('contains complete and incomplete models', async () => {
    expect(await cache.list()).toEqual([]);
    const found = await download('acme/tiny', 'a', 'one', 'two');
    await interrupt('acme/big', 'b', 'one', 'three', 'four');
    expect(await cache.list()).toEqual([
      {
        registry: 'tiny:',
        name: 'acme/tiny',
        version: 'main',
        revision: 'a'.repeat(40),
        folder: found,
        bytes: 2000,
        complete: true,
      },
      expect.objectContaining({ name: 'acme/big', bytes: 3000, complete: false }),
    ]);
  });

  it('skips entries that cannot be read', async () => {
    mkdirSync(join(folder, 'models', 'acme--odd', 'x'), { recursive: true });
    mkdirSync(join(folder, 'staging', 'acme--odd', 'x'), { recursive: true });
    writeFileSync(join(folder, 'models', 'acme--odd', 'x', 'model.json'), '{');
    expect(await cache.list()).toEqual([]);
  });
});

describe('prune', () => {
  it('removes unused models, and returns the bytes freed', async () => {
    await download('acme/tiny', 'a', 'one', 'two', 'plain');
    await download('acme/tiny', 'b', 'one', 'three', 'plain');
    expect(await cache.prune(({ revision }) => revision.startsWith('b'))).toBeGreaterThanOrEqual(2000);
    expect(await shown()).toEqual([['acme/tiny', 'b', true]]);
    expect(blobs()).toHaveLength(2);
    expect(await cache.prune(() => true)).toBe(0);
    expect(await cache.prune(() => false)).toBeGreaterThanOrEqual(3000);
    expect([await shown(), blobs(), readdirSync(join(folder, 'trash'))]).toEqual([[], [], []]);
  });

  it('keeps files that another model uses', async () => {
    await download('acme/tiny', 'a', 'one');
    const other = await download('acme/other', 'b', 'one');
    await cache.prune(({ name }) => name === 'acme/other');
    expect(statSync(join(other, 'one'))).toMatchObject({ size: 1000, nlink: 2 });
  });

  it('keeps downloads that are in use, and removes others', async () => {
    await interrupt('acme/big', 'b', 'one', 'three');
    await cache.prune(({ name }) => name === 'acme/big');
    expect(await shown()).toEqual([['acme/big', 'b', false]]);
    await cache.prune(() => false);
    expect([await shown(), blobs()]).toEqual([[], []]);
  });

  it('keeps a running download', async () => {
    await interrupt('acme/big', 'b', 'one', 'three');
    const lock = (await FileLock.take(join(folder, 'locks', 'acme--big.lock')))!;
    await cache.prune(() => false);
    expect(await shown()).toEqual([['acme/big', 'b', false]]);
    lock.release();
  });

  it('removes invalid entries and unfinished removals', async () => {
    mkdirSync(join(folder, 'models', 'acme--odd', 'x'), { recursive: true });
    mkdirSync(join(folder, 'trash', 'half'));
    await cache.prune(() => true);
    expect([readdirSync(join(folder, 'models', 'acme--odd')), readdirSync(join(folder, 'trash'))]).toEqual([[], []]);
  });

  it('reports what prevents it', async () => {
    await download('acme/tiny', 'a', 'one');
    rmSync(join(folder, 'trash'), { recursive: true });
    await expect(cache.prune(() => false)).rejects.toMatchObject({ code: 'MODEL_CACHE' });
  });
});
