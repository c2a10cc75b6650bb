import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileLock } from '../../../files/file-lock.js';
import { ModelCache } from '../cache/model-cache.js';
import type { ModelRegistry, ResolvedModel } from '../contract.js';
import { FakeClock } from '../fake-clock.fixture.js';
import { FakeHub } from '../fake-hub.fixture.js';
import { fakeBytes, tinyModel } from '../fake-model.fixture.js';
import { checksumsIn, checksumsOf } from '../registry.contract.js';
import { openRegistry } from '../registry.js';
import { type DownloadOptions, downloadModel } from './download-model.js';
import type { DownloadProgress } from './transfer-progress.js';

let hub: FakeHub;
let clock: FakeClock;
let registry: ModelRegistry;
let folder: string;
let cache: ModelCache;
const LARGE = 'model.safetensors';

beforeEach(async () => {
  vi.stubEnv('http_proxy', '');
  hub = await FakeHub.start();
  hub.put('acme/tiny', 'main', tinyModel('main'));
  clock = new FakeClock();
  progress.length = 0;
  registry = openRegistry('hugging-face', { url: hub.url }, clock);
  folder = mkdtempSync(join(tmpdir(), 'twinyard-cache-'));
  cache = await ModelCache.open(join(folder, 'cache'));
});
afterEach(async () => {
  await registry.close();
  await hub.stop();
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

async function download(options: Partial<DownloadOptions> & { version?: string } = {}) {
  const { version, ...rest } = options;
  const model = await registry.resolve('acme/tiny', version);
  return downloadModel({ registry, model, cache, clock, parallel: 1, onProgress, ...rest });
}

/** The requested ranges of large files. */
const ranges = () => hub.requests.filter(({ server }) => server === 'cdn').map(({ headers }) => headers.range);

/** What is downloaded before the large file. */
const SMALL_BYTES = tinyModel('main')['config.json']!.length;

/**
 * Sends `bytes` bytes of the large file, and breaks the connection once they are on disk: bytes in flight may be lost.
 */
function breakAfter(bytes: number): void {
  hub.once('/blobs/', (response, { headers }) => {
    const from = Number(headers.range?.slice(6, -1) ?? 0);
    const all = tinyModel('main')[LARGE]!;
    const range = { 'content-range': `bytes ${from}-${all.length - 1}/${all.length}` };
    response.writeHead(from > 0 ? 206 : 200, { 'content-length': all.length - from, ...(from > 0 ? range : {}) });
    response.write(all.subarray(from, from + bytes));
    breaking = { at: SMALL_BYTES + from + bytes, response };
  });
}

let breaking: { at: number; response: ServerResponse } | undefined;
const progress: DownloadProgress[] = [];

function onProgress(one: DownloadProgress): void {
  progress.push(one);
  // Time passes, so that progress is reported for every piece.
  clock.time += 1000;
  if (breaking === undefined || one.bytes < breaking.at) return;
  breaking.response.destroy();
  breaking = undefined;
}

const breakAtOnce = (times = 1) => hub.once('/blobs/', (response) => response.destroy(), times);

const sameAsHub = (path: string, seed = 'main') => expect(checksumsIn(path)).toEqual(checksumsOf(tinyModel(seed)));

async function* pieces(...all: Buffer[]): AsyncGenerator<Uint8Array> {
  yield* all;
}

const fakeRegistry: ModelRegistry = {
  address: 'tiny:',
  connect: async () => ({ connected: true }),
  list: async () => [],
  resolve: () => Promise.reject(new Error('not used')),
  open: async () => ({ begins: 0, bytes: pieces() }),
  close: async () => {},
};

describe('downloadModel', () => {
  it('downloads a model into its own read-only folder', async () => {
    const { bytes, folder: found, inPlace, revision } = await download();
    sameAsHub(found);
    const total = Object.values(tinyModel('main')).reduce((sum, one) => sum + one.length, 0);
    expect([bytes, inPlace, revision]).toEqual([total, false, (await registry.resolve('acme/tiny')).revision]);
    expect(found.startsWith(join(folder, 'cache', 'models', 'acme--tiny', revision.slice(0, 12)))).toBe(true);
    expect(statSync(join(found, LARGE)).mode & 0o777).toBe(0o444);
    expect(readdirSync(join(folder, 'cache', 'staging', 'acme--tiny'))).toEqual([]);
  });

  it('makes no request when the model is cached', async () => {
    const first = await download();
    const before = hub.requests.length;
    expect(await download()).toEqual(first);
    expect(hub.requests.length).toBe(before + 1);
  });

  it('downloads several files at a time, up to a limit', async () => {
    const names = Array.from({ length: 9 }, (_, i) => `${i}.safetensors`);
    const files = names.map((path) => ({ path, size: 1000, checksum: null, tag: path }));
    const waiting: (() => void)[] = [];
    let active = 0;
    let most = 0;
    const fake: ModelRegistry = {
      ...fakeRegistry,
      async open(_, { path }) {
        most = Math.max(most, ++active);
        // No request continues before three have arrived.
        await new Promise<void>((release) => {
          waiting.push(release);
          if (waiting.length === 3) for (const one of waiting.splice(0)) one();
        });
        active--;
        return { begins: 0, bytes: pieces(fakeBytes(1000, path)) };
      },
    };
    const model = { name: 'acme/many', version: 'main', revision: 'f'.repeat(40), files, folder: null };
    const { folder: found } = await downloadModel({ registry: fake, model, cache, clock, parallel: 3 });
    expect(most).toBe(3);
    expect(checksumsIn(found)).toEqual(
      checksumsOf(Object.fromEntries(names.map((one) => [one, fakeBytes(1000, one)]))),
    );
  });

  it('uses a local model in place, unless a copy is requested', async () => {
    const home = join(folder, 'models', 'tiny');
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'config.json'), '{}');
    const local = openRegistry('file', { url: pathToFileURL(join(folder, 'models')).href }, clock);
    const model = await local.resolve('tiny');
    const options = { registry: local, model, cache, clock };
    expect(await downloadModel(options)).toEqual({ folder: home, revision: model.revision, bytes: 2, inPlace: true });
    const copied = await downloadModel({ ...options, copy: true });
    expect([copied.inPlace, checksumsIn(copied.folder)]).toEqual([false, checksumsIn(home)]);
  });

  it('keeps selections of the same revision apart, and downloads large files once', async () => {
    const config = await download({ selection: { allow: ['*.json', LARGE] } });
    expect(Object.keys(checksumsIn(config.folder)).sort()).toEqual(['config.json', LARGE]);
    const whole = await download();
    sameAsHub(whole.folder);
    expect(ranges()).toHaveLength(1);
    expect(statSync(join(whole.folder, LARGE)).ino).toBe(statSync(join(config.folder, LARGE)).ino);
  });

  it('downloads no large file again that another revision has', async () => {
    await download();
    hub.put('acme/tiny', 'main', { ...tinyModel('main'), 'README.md': Buffer.from('new') });
    await download();
    expect(ranges()).toHaveLength(1);
  });

  it('repairs a folder with missing files', async () => {
    const { folder: found } = await download();
    rmSync(join(found, 'config.json'));
    expect((await download()).folder).toBe(found);
    sameAsHub(found);
  });

  it('requires a selected file', async () => {
    await expect(download({ selection: { allow: ['*.gguf'] } })).rejects.toMatchObject({
      code: 'MODEL_NOTHING_SELECTED',
      place: `${hub.url}: acme/tiny`,
      problem: 'none of its 4 files is selected',
    });
  });
});

describe('an interrupted download', () => {
  it('continues where it ended, after a pause', async () => {
    breakAfter(100_000);
    breakAfter(50_000);
    sameAsHub((await download()).folder);
    expect(ranges()).toEqual([undefined, 'bytes=100000-', 'bytes=150000-']);
    expect(clock.slept).toEqual([1000, 1000]);
  });

  it('waits longer after each failure without progress, and fails at last', async () => {
    breakAfter(1000);
    breakAtOnce(20);
    await expect(download()).rejects.toMatchObject({ code: 'REGISTRY_UNREACHABLE', transient: true });
    expect(clock.slept).toEqual([1000, 2000, 4000, 8000]);
  });

  it('waits for the Retry-After', async () => {
    hub.once('/resolve/', (response) => response.writeHead(429, { 'retry-after': '9' }).end());
    sameAsHub((await download()).folder);
    expect(clock.slept).toEqual([9000]);
  });

  it('is continued by the next call', async () => {
    breakAfter(100_000);
    breakAtOnce(5);
    await expect(download()).rejects.toMatchObject({ code: 'REGISTRY_UNREACHABLE' });
    expect(readdirSync(join(folder, 'cache', 'models'))).toEqual([]);
    hub.faults = [];
    hub.requests.length = 0;
    progress.length = 0;
    cache = await ModelCache.open(join(folder, 'cache'));
    sameAsHub((await download()).folder);
    expect(ranges()).toEqual(['bytes=100000-']);
    expect(progress.find(({ bytes }) => bytes > SMALL_BYTES)).toMatchObject({ bytes: SMALL_BYTES + 100_000 });
  });

  it('starts again when the server ignores the range', async () => {
    breakAfter(100_000);
    hub.once('/blobs/', (response) => response.writeHead(200).end(tinyModel('main')[LARGE]));
    sameAsHub((await download()).folder);
  });

  it('reports a stall, and continues', async () => {
    const all = tinyModel('main')[LARGE]!;
    let hanging: ServerResponse | undefined;
    hub.once('/blobs/', (response) => {
      hanging = response.writeHead(200, { 'content-length': all.length });
      hanging.write(all.subarray(0, 1000));
    });
    const stalls: number[] = [];
    const { folder: found } = await download({
      onProgress: ({ bytes, quietMs }) => {
        clock.time += 250;
        if (quietMs > 0) stalls.push(quietMs);
        if (bytes !== SMALL_BYTES + 1000 || hanging === undefined) return;
        // After these bytes no data arrives for a while.
        const response = hanging;
        hanging = undefined;
        setImmediate(() => {
          clock.pass(25_000);
          response.end(all.subarray(1000));
        });
      },
    });
    sameAsHub(found);
    expect([stalls.length, clock.alarms]).toEqual([2, 0]);
    expect(stalls[0]).toBeGreaterThanOrEqual(10_000);
  });

  it('ends too early without an error', async () => {
    hub.once('/blobs/', (response) => response.writeHead(200).end('short'), 20);
    await expect(download()).rejects.toMatchObject({
      code: 'MODEL_FILE_INTERRUPTED',
      transient: true,
      problem: 'ended after 5 of 300000 bytes',
    });
  });

  it('fails at once for a permanent error', async () => {
    hub.once('/blobs/', (response) => response.writeHead(403).end());
    await expect(download()).rejects.toMatchObject({ code: 'REGISTRY_FORBIDDEN' });
    expect([clock.slept, clock.alarms]).toEqual([[], 0]);
  });

  it('ends the other files, and keeps what was downloaded', async () => {
    const files = { 'a.safetensors': fakeBytes(1000, 'a'), 'b.safetensors': fakeBytes(1000, 'b') };
    hub.put('acme/tiny', 'two', files);
    const waiting = new Promise<void>((seen) => {
      hub.once('/b.safetensors', () => seen());
    });
    hub.once('/a.safetensors', (response) => void waiting.then(() => response.writeHead(404).end()));
    // The second file never gets a response: it would wait forever.
    await expect(download({ version: 'two', parallel: 2 })).rejects.toMatchObject({
      code: 'MODEL_FILE_NOT_FOUND',
      place: expect.stringContaining('a.safetensors'),
    });
  });
});

describe('wrong bytes', () => {
  const wrong = fakeBytes(300_000, 'wrong');
  const sendWrong = (response: ServerResponse) => response.writeHead(200).end(wrong);

  it('are not published', async () => {
    hub.once('/blobs/', sendWrong);
    await expect(download()).rejects.toMatchObject({
      code: 'MODEL_CHECKSUM',
      transient: false,
      message: expect.stringMatching(/\(file "model.safetensors"\): its sha256 does not match the registry's; /),
    });
    expect(readdirSync(join(folder, 'cache', 'models'))).toEqual([]);
    expect(readdirSync(join(folder, 'cache', 'blobs'))).not.toContain(wrong.toString('hex').slice(0, 2));
  });

  it('of small files are detected as well', async () => {
    const { length } = tinyModel('main')['config.json']!;
    hub.once('/resolve-cache/', (response) => response.writeHead(200).end(fakeBytes(length, 'x')));
    await expect(download()).rejects.toMatchObject({
      code: 'MODEL_CHECKSUM',
      problem: expect.stringMatching(/^its git-sha1/),
    });
  });

  it('are downloaded once more if they are of an earlier download', async () => {
    hub.once('/blobs/', sendWrong);
    await expect(download()).rejects.toMatchObject({ code: 'MODEL_CHECKSUM' });
    sameAsHub((await download()).folder);
    expect(ranges()).toEqual([undefined, undefined]);
  });

  it('beyond the end of the file', async () => {
    hub.once('/blobs/', (response) => {
      response.writeHead(200, { 'transfer-encoding': 'chunked' }).end(Buffer.concat([wrong, wrong]));
    });
    await expect(download()).rejects.toMatchObject({
      code: 'MODEL_FILE_CHANGED',
      problem: 'is longer than 300000 bytes',
    });
    expect(clock.slept).toEqual([]);
    sameAsHub((await download()).folder);
  });

  it('from a file that changed while the download was interrupted', async () => {
    breakAfter(100_000);
    hub.faults.push(({ path, server }) => {
      const { revision } = { revision: path.split('/')[4]! };
      const isSecond = server === 'hub' && path.includes(LARGE) && ranges().length === 1;
      if (isSecond) hub.tamper('acme/tiny', revision, LARGE, wrong);
      return false;
    });
    await expect(download()).rejects.toMatchObject({
      code: 'MODEL_FILE_CHANGED',
      problem: 'has a different checksum now',
    });
    hub.put('acme/tiny', 'main', tinyModel('next'));
    sameAsHub((await download()).folder, 'next');
  });
});

describe('an aborted download', () => {
  it('ends at once with the reason, and keeps what was downloaded', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    hub.once('/blobs/', (response) => {
      response.writeHead(200, { 'content-length': 300_000 });
      response.write(tinyModel('main')[LARGE]!.subarray(0, 1000));
    });
    const cancel = (one: DownloadProgress) => {
      onProgress(one);
      if (one.bytes === SMALL_BYTES + 1000) controller.abort(reason);
    };
    await expect(download({ signal: controller.signal, onProgress: cancel })).rejects.toBe(reason);
    sameAsHub((await download()).folder);
    expect(ranges()).toEqual([undefined, 'bytes=1000-']);
  });

  it('ends while it reads an earlier download', async () => {
    breakAfter(1000);
    breakAtOnce(9);
    await download().catch(() => {});
    const controller = new AbortController();
    const reason = new Error('enough');
    const cancel = ({ files }: DownloadProgress) => {
      if (files === 2) controller.abort(reason);
    };
    await expect(download({ signal: controller.signal, onProgress: cancel })).rejects.toBe(reason);
  });

  it('ends a pause', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    breakAfter(10);
    clock.onSleep = () => controller.abort(reason);
    await expect(download({ signal: controller.signal })).rejects.toBe(reason);
  });

  it('leaves nothing when it was aborted before it began', async () => {
    const reason = new Error('enough');
    await expect(download({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(readdirSync(join(folder, 'cache', 'staging'))).toEqual([]);
  });
});

describe('two downloads of the same model', () => {
  const lockPath = () => join(folder, 'cache', 'locks', 'acme--tiny.lock');

  it('wait for each other, and the second finds the model', async () => {
    const first = (await FileLock.take(lockPath()))!;
    clock.onSleep = () => {
      if (clock.slept.length === 3) first.release();
    };
    sameAsHub((await download()).folder);
    expect(clock.slept).toEqual([500, 500, 500]);
    expect([progress[0]!.phase, progress.at(-1)!.phase]).toEqual(['waiting', 'publishing']);
  });

  it('of one process download it once', async () => {
    const folders = await Promise.all([download(), download(), download()]);
    expect(new Set(folders.map((one) => one.folder)).size).toBe(1);
    expect(ranges()).toHaveLength(1);
  });

  it('can be aborted while they wait', async () => {
    const first = (await FileLock.take(lockPath()))!;
    const controller = new AbortController();
    const reason = new Error('enough');
    clock.onSleep = () => controller.abort(reason);
    await expect(download({ signal: controller.signal })).rejects.toBe(reason);
    first.release();
  });
});

describe('the disk', () => {
  const huge = (size: number): ResolvedModel => ({
    name: 'acme/huge',
    version: 'main',
    revision: 'f'.repeat(40),
    files: [{ path: 'model.gguf', size, checksum: null, tag: 'x' }],
    folder: null,
  });

  it('needs room for the missing files', async () => {
    const model = huge(2 ** 52);
    await expect(downloadModel({ registry: fakeRegistry, model, cache, clock })).rejects.toMatchObject({
      code: 'MODEL_DISK_FULL',
      transient: true,
      problem: expect.stringMatching(/^4194304\.0 GiB are needed, \d+\.\d GiB are free$/),
    });
  });

  it('may be full in the middle of a download', async () => {
    const open = async () => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });
    };
    const options = { registry: { ...fakeRegistry, open }, model: huge(10), cache, clock };
    await expect(downloadModel(options)).rejects.toMatchObject({
      code: 'MODEL_DISK_FULL',
      problem: '0.0 GiB are needed',
    });
  });
});

describe('symbolic links in the cache', () => {
  const staged = () => {
    const name = join(folder, 'cache', 'staging', 'acme--tiny');
    return join(name, readdirSync(name)[0]!);
  };
  /** A download that has begun. */
  async function begin(): Promise<void> {
    breakAfter(1000);
    breakAtOnce(9);
    await download().catch(() => {});
    hub.faults = [];
  }

  it('in place of an incomplete file are refused', async () => {
    await begin();
    const [partial] = readdirSync(join(staged(), 'partial'));
    const path = join(staged(), 'partial', partial!);
    rmSync(path);
    writeFileSync(join(folder, 'precious'), 'untouched');
    symlinkSync(join(folder, 'precious'), path);
    await expect(download()).rejects.toMatchObject({
      code: 'MODEL_CACHE',
      place: path,
      problem: 'is a symbolic link',
    });
    expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('untouched');
  });

  it('in place of a folder are refused', async () => {
    await begin();
    const notes = join(staged(), 'model', 'files', 'notes');
    rmSync(notes, { recursive: true, force: true });
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(join(folder, 'elsewhere'), notes);
    await expect(download()).rejects.toMatchObject({
      code: 'MODEL_CACHE',
      place: notes,
      problem: 'is not a folder',
    });
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([]);
  });

  it('in place of a complete file are replaced', async () => {
    await begin();
    const config = join(staged(), 'model', 'files', 'config.json');
    rmSync(config);
    writeFileSync(join(folder, 'precious'), tinyModel('main')['config.json']!);
    symlinkSync(join(folder, 'precious'), config);
    const { folder: found } = await download();
    expect(lstatSync(join(found, 'config.json')).isFile()).toBe(true);
    sameAsHub(found);
  });

  it('in place of a blob are not followed', async () => {
    const sum = (await registry.resolve('acme/tiny')).files.find(({ path }) => path === LARGE)!.checksum!.hex;
    const blobs = join(folder, 'cache', 'blobs', sum.slice(0, 2));
    mkdirSync(blobs, { recursive: true });
    writeFileSync(join(folder, 'precious'), fakeBytes(300_000, 'evil'));
    symlinkSync(join(folder, 'precious'), join(blobs, sum));
    sameAsHub((await download()).folder);
  });
});

describe('changes by other programs', () => {
  it('are detected before the model is published', async () => {
    const spoil = ({ phase }: DownloadProgress) => {
      if (phase !== 'publishing') return;
      const [home] = readdirSync(join(folder, 'cache', 'staging', 'acme--tiny'));
      const path = join(folder, 'cache', 'staging', 'acme--tiny', home!, 'model', 'files', 'config.json');
      rmSync(path);
    };
    await expect(download({ onProgress: spoil })).rejects.toMatchObject({
      code: 'MODEL_CACHE',
      problem: 'was changed while the model was downloaded',
    });
    expect(await cache.list()).toEqual([expect.objectContaining({ complete: false })]);
  });

  it('restart a file that is longer than it should be', async () => {
    breakAfter(1000);
    breakAtOnce(9);
    await download().catch(() => {});
    hub.faults = [];
    const staging = join(folder, 'cache', 'staging', 'acme--tiny');
    const partial = join(staging, readdirSync(staging)[0]!, 'partial');
    truncateSync(join(partial, readdirSync(partial)[0]!), 300_001);
    sameAsHub((await download()).folder);
  });
});

describe('a cache folder', () => {
  it.each([
    ['is a file', 'is not a folder'],
    ['is below a file', 'is not a folder'],
  ])('that %s is refused', async (what, problem) => {
    writeFileSync(join(folder, 'file'), '');
    const path = what === 'is a file' ? join(folder, 'file') : join(folder, 'file', 'cache');
    await expect(ModelCache.open(path)).rejects.toMatchObject({ code: 'MODEL_CACHE', place: path, problem });
  });

  it('whose parts are links is refused', async () => {
    mkdirSync(join(folder, 'other'));
    symlinkSync(folder, join(folder, 'other', 'models'));
    await expect(ModelCache.open(join(folder, 'other'))).rejects.toMatchObject({
      code: 'MODEL_CACHE',
      place: join(folder, 'other', 'models'),
    });
  });

  it('cannot be locked where the lock file is a folder', async () => {
    mkdirSync(join(folder, 'cache', 'locks', 'acme--tiny.lock'));
    await expect(download()).rejects.toMatchObject({
      code: 'MODEL_CACHE',
      problem: 'is a folder',
    });
  });
});
