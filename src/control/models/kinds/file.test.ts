import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../fake-clock.fixture.js';
import { sha256 } from '../fake-hub.fixture.js';
import { bytesOf } from '../registry.contract.js';
import { fileRegistry as kind } from './file.js';

let folder: string;
let root: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-folder-'));
  root = join(folder, 'models');
  mkdirSync(root);
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (url = pathToFileURL(root).href) => kind.open({ url }, new FakeClock());

function write(path: string, text = '{}'): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const resolved = async (name: string, version?: string) => {
  const { folder: found, version: taken } = await open().resolve(name, version);
  return [found?.slice(root.length + 1), taken];
};

describe('the URL', () => {
  it.each([undefined, 'models', '/models', 'https://models', 'file://host/models'])('%s is refused', (url) => {
    expect(() => kind.open(url === undefined ? {} : { url }, new FakeClock())).toThrow(
      expect.objectContaining({ code: 'REGISTRY_URL', hint: "give the URL of a folder, as in 'file:///models'" }),
    );
  });

  it('refuses a token', () => {
    const settings = { url: 'file:///models', token: 'hf_x', place: 'r' };
    expect(() => kind.open(settings, new FakeClock())).toThrow(
      expect.objectContaining({ code: 'REGISTRY_TOKEN', place: 'r (token)', hint: 'leave it out' }),
    );
  });

  it('is a folder', async () => {
    write('plain');
    const { problem } = (await open(pathToFileURL(join(root, 'plain')).href).connect()) as { problem?: Error };
    expect(problem).toMatchObject({ code: 'REGISTRY_FOLDER', problem: 'cannot be read (no such file)' });
    expect(await open('file:///').connect()).toEqual({ connected: true });
  });
});

describe('models', () => {
  it('are folders with a config or weights, or with versions that have them', async () => {
    write('plain/config.json');
    write('quantised/model.Q4.gguf');
    write('tiny/v1/model.safetensors');
    write('tiny/v2/config.json');
    write('acme/large/v1/config.json');
    write('acme/notes/readme.txt');
    write('notes/readme.txt');
    write('.git/config.json');
    write('file.gguf');
    expect(await open().list({})).toEqual([
      { name: 'acme/large', versions: ['v1'] },
      { name: 'plain', versions: [] },
      { name: 'quantised', versions: [] },
      { name: 'tiny', versions: ['v1', 'v2'] },
    ]);
  });

  it('are found with and without an organisation', async () => {
    write('acme/tiny/config.json');
    expect(await open().list({})).toEqual([{ name: 'acme', versions: ['tiny'] }]);
    expect(await resolved('acme/tiny')).toEqual(['acme/tiny', 'main']);
    expect(await resolved('acme', 'tiny')).toEqual(['acme/tiny', 'tiny']);
  });

  it('have the requested version, or the default one', async () => {
    write('plain/config.json');
    expect(await resolved('plain')).toEqual(['plain', 'main']);
    expect(await resolved('plain', 'main')).toEqual(['plain', 'main']);
    write('tiny/v1/config.json');
    expect(await resolved('tiny')).toEqual(['tiny/v1', 'v1']);
    write('tiny/v2/config.json');
    expect(await resolved('tiny', 'v2')).toEqual(['tiny/v2', 'v2']);
    await expect(open().resolve('tiny')).rejects.toMatchObject({
      code: 'MODEL_VERSION_NEEDED',
      hint: 'give one of v1, v2',
    });
    write('tiny/main/config.json');
    expect(await resolved('tiny')).toEqual(['tiny/main', 'main']);
    symlinkSync('v1', join(root, 'tiny/latest'));
    expect(await resolved('tiny')).toEqual(['tiny/v1', 'latest']);
  });

  it('are listed when one does not exist', async () => {
    await expect(open().resolve('tiny')).rejects.toMatchObject({ hint: 'the folder has no models' });
    write('plain/config.json');
    await expect(open().resolve('plan')).rejects.toMatchObject({ hint: "did you mean 'plain'? known: plain" });
    await expect(open().resolve('plain', 'v1')).rejects.toMatchObject({ hint: 'known: main' });
  });
});

describe('files', () => {
  it('are all but hidden ones below the folder, sorted', async () => {
    write('tiny/config.json');
    write('tiny/b/2.txt', 'two');
    write('tiny/b/1.txt', 'one');
    write('tiny/.cache/x');
    write('tiny/.hidden');
    const { files } = await open().resolve('tiny');
    expect(files.map(({ checksum, path, size }) => [path, size, checksum])).toEqual([
      ['b/1.txt', 3, null],
      ['b/2.txt', 3, null],
      ['config.json', 2, null],
    ]);
  });

  it('have checksums if there is a list of them', async () => {
    write('tiny/config.json');
    write('tiny/b/1.txt', 'one');
    const [one, two] = [sha256(Buffer.from('one')), sha256(Buffer.from('{}'))];
    write('tiny/SHA256SUMS', `${one}  ./b/1.txt\r\n\n${two.toUpperCase()} *config.json\n`);
    const { files } = await open().resolve('tiny');
    expect(files.map(({ checksum, path }) => [path, checksum?.hex])).toEqual([
      ['SHA256SUMS', undefined],
      ['b/1.txt', one],
      ['config.json', two],
    ]);
    write('tiny/SHA256SUMS', `${one}  a\nnonsense\n`);
    await expect(open().resolve('tiny')).rejects.toMatchObject({
      code: 'MODEL_CHECKSUM_LIST',
      place: `${join(root, 'tiny/SHA256SUMS')}:2`,
    });
  });

  it('may be links to files below the root', async () => {
    write('blobs/1', 'bytes');
    write('tiny/config.json');
    symlinkSync('../blobs/1', join(root, 'tiny/model.safetensors'));
    const registry = open();
    const model = await registry.resolve('tiny');
    expect(model.files[1]).toMatchObject({ path: 'model.safetensors', size: 5 });
    expect((await bytesOf(await registry.open(model, model.files[1]!, 2))).toString()).toBe('tes');
  });

  it.each([
    ['a file', 'tiny/model.safetensors', 'secret'],
    ['a folder', 'tiny/more', '.'],
    ['a model', 'linked', '.'],
  ])('do not lead out of the root by a link to %s', async (_, path, target) => {
    writeFileSync(join(folder, 'secret'), 'x');
    writeFileSync(join(folder, 'config.json'), '{}');
    write('tiny/config.json');
    symlinkSync(join(folder, target), join(root, path));
    await expect(open().resolve(path.split('/')[0]!)).rejects.toMatchObject({
      code: 'MODEL_FILE_NAME',
      problem: 'leads out of the registry folder',
    });
  });

  it.each([
    ['a link to a folder', 'inside', 'MODEL_FILE_NAME', 'is neither a file nor a folder'],
    ['a link to nothing', 'nothing', 'REGISTRY_FOLDER', 'cannot be read (no such file)'],
  ])('are not %s', async (_, target, code, problem) => {
    write('inside/x');
    write('tiny/config.json');
    symlinkSync(join(root, target), join(root, 'tiny/more'));
    const place = target === 'inside' ? join(root, 'tiny/more') : expect.stringContaining('tiny/more');
    await expect(open().resolve('tiny')).rejects.toMatchObject({ code, place, problem });
  });

  it('with invalid names are refused', async () => {
    write('tiny/config.json');
    write('tiny/a\\b');
    await expect(open().resolve('tiny')).rejects.toMatchObject({ code: 'MODEL_FILE_NAME' });
  });

  it('change the revision when one of them changes', async () => {
    write('tiny/config.json');
    const before = await open().resolve('tiny');
    utimesSync(join(root, 'tiny/config.json'), 1, 1);
    const after = await open().resolve('tiny');
    expect(after.revision).not.toBe(before.revision);
  });
});

describe('reading', () => {
  it('fails when a file has been removed', async () => {
    write('tiny/config.json');
    const registry = open();
    const model = await registry.resolve('tiny');
    const opened = await registry.open(model, model.files[0]!, 0);
    rmSync(join(root, 'tiny/config.json'));
    await expect(bytesOf(opened)).rejects.toMatchObject({ code: 'REGISTRY_FOLDER' });
    await expect(registry.open(model, model.files[0]!, 0)).rejects.toMatchObject({ code: 'REGISTRY_FOLDER' });
  });

  it('fails when a file changes while it is read', async () => {
    write('tiny/model.gguf', 'x'.repeat(3 * 2 ** 20));
    const registry = open();
    const model = await registry.resolve('tiny');
    const { bytes } = await registry.open(model, model.files[0]!, 0);
    const read = async () => {
      for await (const _ of bytes) truncateSync(join(root, 'tiny/model.gguf'), 10);
    };
    await expect(read()).rejects.toMatchObject({
      code: 'MODEL_FILE_CHANGED',
      problem: 'changed while it was read',
    });
  });
});
