import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelCache } from './cache/model-cache.js';
import type { ModelRegistry, OpenedFile, RegistryKind, RegistrySettings } from './contract.js';
import { downloadModel } from './download/download-model.js';
import { FakeClock } from './fake-clock.fixture.js';
import { gitBlob, sha256 } from './fake-hub.fixture.js';
import { fakeBytes, tinyModel } from './fake-model.fixture.js';

/** A place with `acme/tiny` at `v1` and `v2`, made by `tinyModel` from these names, and `acme/other`. */
export interface RegistryPlace {
  readonly settings: RegistrySettings;
  /** Settings of a registry that does not exist. */
  readonly nowhere: RegistrySettings;
  /** Other bytes for a file, under the same version. */
  change(name: string, version: string, path: string, bytes: Buffer): void;
  end(): Promise<void>;
}

export async function bytesOf({ bytes }: OpenedFile): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The checksums of the files below a folder, by path: bytes themselves are slow to compare. */
export function checksumsIn(folder: string): Record<string, string> {
  const paths = (readdirSync(folder, { recursive: true }) as string[]).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
  return checksumsOf(Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path))])));
}

export function checksumsOf(files: Readonly<Record<string, Buffer>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, bytes]) => [path, sha256(bytes)]));
}

/** What every kind of registry promises. */
export function registryContract(kind: RegistryKind, makePlace: () => Promise<RegistryPlace>): void {
  describe(`registry ${kind.name}`, () => {
    let place: RegistryPlace;
    let registry: ModelRegistry;
    let lost: ModelRegistry;
    const clock = new FakeClock();
    const temporary = mkdtempSync(join(tmpdir(), 'twinyard-registry-'));

    beforeAll(async () => {
      place = await makePlace();
      registry = kind.open(place.settings, clock);
      lost = kind.open(place.nowhere, clock);
    });
    afterAll(async () => {
      await registry.close();
      await lost.close();
      await place.end();
      rmSync(temporary, { recursive: true });
    });

    it('connects', async () => {
      expect(await registry.connect()).toEqual({ connected: true });
    });

    it('reports why it cannot connect', async () => {
      const connection = await lost.connect();
      const words = {
        place: expect.stringMatching(/./),
        problem: expect.stringMatching(/./),
        hint: expect.anything(),
      };
      expect(connection).toEqual({ connected: false, problem: expect.objectContaining(words) });
      await expect(lost.resolve('acme/tiny')).rejects.toMatchObject({
        ...words,
        code: expect.stringMatching(/^REGISTRY_/),
      });
      await expect(lost.list({})).rejects.toMatchObject(words);
    });

    it('lists all models or those that match, up to a limit', async () => {
      const names = async (query: Parameters<ModelRegistry['list']>[0]) =>
        (await registry.list(query)).map(({ name }) => name).sort();
      expect(await names({})).toEqual(['acme/other', 'acme/tiny']);
      expect(await names({ search: 'TIN' })).toEqual(['acme/tiny']);
      expect(await names({ search: 'nothing & none' })).toEqual([]);
      expect(await names({ limit: 1 })).toHaveLength(1);
    });

    it.each(['v1', 'v2'])('resolves %s to its files, with sizes and checksums', async (version) => {
      const model = await registry.resolve('acme/tiny', version);
      const files = tinyModel(version);
      expect(model).toMatchObject({ name: 'acme/tiny', version, revision: expect.stringMatching(/^[0-9a-f]{40,}$/) });
      expect(model.files.map(({ path, size }) => [path, size])).toEqual(
        Object.entries(files).map(([path, bytes]) => [path, bytes.length]),
      );
      for (const { checksum, path } of model.files) {
        const bytes = files[path]!;
        if (checksum === null) continue;
        expect(checksum.hex, path).toBe(checksum.algorithm === 'sha256' ? sha256(bytes) : gitBlob(bytes));
      }
    });

    it('keeps the resolved revision', async () => {
      const one = await registry.resolve('acme/tiny', 'v1');
      const again = await registry.resolve('acme/tiny', 'v1');
      const other = await registry.resolve('acme/tiny', 'v2');
      expect(again).toEqual(one);
      expect(other.revision).not.toBe(one.revision);
    });

    it('has a default version', async () => {
      const model = await registry.resolve('acme/other');
      expect(await registry.resolve('acme/other', model.version)).toEqual(model);
    });

    it.each([0, 1, 70_000, 299_999, 300_000])('opens a file at %i', async (offset) => {
      const model = await registry.resolve('acme/tiny', 'v1');
      const file = model.files.find(({ path }) => path === 'model.safetensors')!;
      const opened = await registry.open(model, file, offset);
      expect(opened.begins).toBe(offset);
      expect((await bytesOf(opened)).equals(tinyModel('v1')['model.safetensors']!.subarray(offset))).toBe(true);
    });

    it('opens files in folders, and empty ones', async () => {
      const model = await registry.resolve('acme/tiny', 'v1');
      for (const file of model.files) {
        const bytes = await bytesOf(await registry.open(model, file, 0));
        expect(bytes.equals(tinyModel('v1')[file.path]!), file.path).toBe(true);
      }
    });

    it('reports a model or a version that does not exist', async () => {
      await expect(registry.resolve('acme/tyni')).rejects.toMatchObject({ code: 'MODEL_NOT_FOUND' });
      await expect(registry.resolve('acme/tiny', 'v3')).rejects.toMatchObject({
        code: 'MODEL_VERSION_NOT_FOUND',
        problem: expect.stringContaining("'v3'"),
      });
    });

    it.each(['', '.', '..', '../x', 'a/..', 'a/../b', '/etc', 'a/b/c', 'a b', 'a\0', 'a\\b', '-x', 'a?b', 'a%2fb'])(
      'makes no request for a model %j',
      async (name) => {
        await expect(registry.resolve(name)).rejects.toMatchObject({ code: 'MODEL_NAME' });
      },
    );

    it.each(['', '..', '../v1', 'a/../b', '/v1', 'v1/', 'a//b', 'v 1', 'v1?x', '-v', '.git'])(
      'makes no request for a version %j',
      async (version) => {
        await expect(registry.resolve('acme/tiny', version)).rejects.toMatchObject({ code: 'MODEL_VERSION' });
      },
    );

    it('stops when the signal is aborted, with its reason', async () => {
      const reason = new Error('enough');
      const signal = AbortSignal.abort(reason);
      const model = await registry.resolve('acme/tiny', 'v1');
      await expect(registry.connect(signal)).rejects.toBe(reason);
      await expect(registry.list({}, signal)).rejects.toBe(reason);
      await expect(registry.resolve('acme/tiny', 'v1', signal)).rejects.toBe(reason);
      await expect(registry.open(model, model.files[0]!, 0, signal)).rejects.toBe(reason);
    });

    it('stops in the middle of a file', async () => {
      const model = await registry.resolve('acme/tiny', 'v1');
      const controller = new AbortController();
      const reason = new Error('enough');
      const { bytes } = await registry.open(model, model.files[0]!, 0, controller.signal);
      controller.abort(reason);
      await expect(bytesOf({ begins: 0, bytes })).rejects.toBe(reason);
    });

    it('is downloaded, file for file', async () => {
      const cache = await ModelCache.open(join(temporary, 'cache'));
      const model = await registry.resolve('acme/tiny', 'v2');
      const { folder } = await downloadModel({ registry, model, cache, clock, copy: true });
      expect(checksumsIn(folder)).toEqual(checksumsOf(tinyModel('v2')));
    });

    it('detects a file that changed after it was resolved', async () => {
      const model = await registry.resolve('acme/other');
      const file = model.files.find(({ path }) => path === 'model.safetensors')!;
      place.change('acme/other', model.version, 'model.safetensors', fakeBytes(file.size, 'changed'));
      const opened = registry.open(model, file, 1000).then(bytesOf);
      await expect(opened).rejects.toMatchObject({ code: 'MODEL_FILE_CHANGED', transient: true });
    });

    it('does not show its token', async () => {
      const { token } = place.settings;
      const { problem } = (await lost.connect()) as { problem?: Error };
      const shown = [inspect(registry, { depth: 9, showHidden: true }), JSON.stringify(registry), inspect(problem)];
      if (token !== undefined) for (const text of shown) expect(text).not.toContain(token);
      expect(token === undefined).toBe(!kind.takesToken);
    });
  });
}
