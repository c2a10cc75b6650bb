import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { FakeHub } from './fake-hub.fixture.js';
import { tinyModel } from './fake-model.fixture.js';
import { type RegistryPlace, registryContract } from './registry.contract.js';
import { openRegistry, REGISTRY_KINDS } from './registry.js';

// A proxy of the machine that runs the tests has no part in them.
vi.stubEnv('http_proxy', '');

const TOKEN = 'hf_PlantedTokenThatNobodyMaySee';

const PLACES: Readonly<Record<string, () => Promise<RegistryPlace>>> = {
  'hugging-face': async () => {
    const hub = await FakeHub.start();
    hub.token = TOKEN;
    hub.put('acme/tiny', 'v1', tinyModel('v1'));
    hub.put('acme/tiny', 'v2', tinyModel('v2'));
    const commit = hub.put('acme/other', 'main', tinyModel('other'));
    return {
      settings: { url: hub.url, token: `${TOKEN}\n` },
      nowhere: { url: 'http://127.0.0.1:1', token: TOKEN },
      change: (name, _, path, bytes) => hub.tamper(name, commit, path, bytes),
      end: () => hub.stop(),
    };
  },
  file: async () => {
    const root = mkdtempSync(join(tmpdir(), 'twinyard-models-'));
    const write = (path: string, bytes: Buffer) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), bytes);
    };
    for (const [name, version] of [
      ['acme/tiny', 'v1'],
      ['acme/tiny', 'v2'],
      ['acme/other', 'main'],
    ]) {
      const seed = version === 'main' ? 'other' : version!;
      for (const [path, bytes] of Object.entries(tinyModel(seed))) write(`${name}/${version}/${path}`, bytes);
    }
    return {
      settings: { url: pathToFileURL(root).href },
      nowhere: { url: pathToFileURL(join(root, 'nowhere')).href },
      change: (name, version, path, bytes) => write(`${name}/${version}/${path}`, bytes),
      end: async () => rmSync(root, { recursive: true }),
    };
  },
};

for (const kind of REGISTRY_KINDS) registryContract(kind, PLACES[kind.name]!);

describe('openRegistry', () => {
  it('opens every kind', async () => {
    expect(openRegistry('hugging-face', {}).address).toBe('https://huggingface.co');
    expect(openRegistry('file', { url: 'file:///models/' }).address).toBe('file:///models');
  });

  it('lists the known kinds for an unknown one', () => {
    expect(() => openRegistry('hugging-fase', { place: "ModelRegistry 'hub'" })).toThrow(
      expect.objectContaining({
        code: 'REGISTRY_KIND_UNKNOWN',
        place: "ModelRegistry 'hub'",
        hint: "did you mean 'hugging-face'? known: hugging-face, file",
      }),
    );
  });
});
