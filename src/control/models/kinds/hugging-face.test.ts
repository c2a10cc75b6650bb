import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeCertificate } from '../../../gateway/server/certificate.fixture.js';
import { networkProblem } from '../../../protocol/http-client/network-problem.js';
import type { ModelRegistry, RegistrySettings } from '../contract.js';
import { ModelError } from '../errors.js';
import { FakeClock } from '../fake-clock.fixture.js';
import { FakeHub, refuse } from '../fake-hub.fixture.js';
import { fakeBytes, tinyModel } from '../fake-model.fixture.js';
import { redirected } from '../hub/hub-client.js';
import { bytesOf } from '../registry.contract.js';
import { huggingFaceRegistry } from './hugging-face.js';

const TOKEN = 'hf_PlantedTokenThatNobodyMaySee';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-hub-'));
const certificate = makeCertificate(folder, 'localhost');
afterAll(() => rmSync(folder, { recursive: true }));

let hub: FakeHub;
let clock: FakeClock;
let commit: string;
const opened: ModelRegistry[] = [];

function open(settings: RegistrySettings = {}): ModelRegistry {
  const registry = huggingFaceRegistry.open({ url: hub.url, ...settings }, clock);
  opened.push(registry);
  return registry;
}

beforeEach(async () => {
  vi.stubEnv('http_proxy', '');
  hub = await FakeHub.start();
  clock = new FakeClock();
  commit = hub.put('acme/tiny', 'main', tinyModel('main'));
});
afterEach(async () => {
  for (const registry of opened.splice(0)) await registry.close();
  await hub.stop();
  vi.unstubAllEnvs();
});

async function openLarge(registry: ModelRegistry, offset = 0) {
  const model = await registry.resolve('acme/tiny');
  return registry.open(model, model.files.find(({ path }) => path === 'model.safetensors')!, offset);
}

const answer = (status: number, headers: Record<string, string> = {}, body = '') => {
  return (response: ServerResponse) => response.writeHead(status, headers).end(body);
};

describe('a token', () => {
  it('is sent to the hub with every request, and not to the target of a redirect', async () => {
    hub.token = TOKEN;
    await bytesOf(await openLarge(open({ token: TOKEN })));
    const sent = hub.requests.map(({ headers, server }) => [server, headers.authorization]);
    expect(sent).toEqual([
      ['hub', `Bearer ${TOKEN}`],
      ['hub', `Bearer ${TOKEN}`],
      ['cdn', undefined],
    ]);
  });

  it('is sent for redirects within the hub', async () => {
    hub.token = TOKEN;
    const registry = open({ token: TOKEN });
    const model = await registry.resolve('acme/tiny');
    await bytesOf(await registry.open(model, model.files[0]!, 0));
    const sent = hub.requests.map(({ headers, path }) => [
      path.split('/').slice(0, 3).join('/'),
      headers.authorization,
    ]);
    expect(sent.slice(1)).toEqual([
      ['/acme/tiny', `Bearer ${TOKEN}`],
      ['/api/resolve-cache', `Bearer ${TOKEN}`],
    ]);
  });

  it('is not sent again when another host redirects back', async () => {
    hub.token = TOKEN;
    hub.once('/blobs/', answer(302, { location: `${hub.url}/api/models?back` }));
    await openLarge(open({ token: TOKEN })).catch(() => {});
    expect(hub.requests.at(-1)).toMatchObject({ server: 'hub', path: '/api/models?back' });
    expect(hub.requests.at(-1)!.headers.authorization).toBeUndefined();
  });

  it('is not shown, even if the server repeats it', async () => {
    hub.once('/api/', answer(403, { 'x-error-message': `no ${TOKEN}\r here`.replace('\r', '') }));
    hub.once('/api/', answer(418, {}, JSON.stringify({ error: `${TOKEN}\nis wrong` })));
    const registry = open({ token: TOKEN });
    const messages = [];
    for (let i = 0; i < 2; i++) messages.push(await registry.list({}).catch((error) => error.message));
    expect(messages).toEqual([
      `${hub.url}: access denied: no *** here; give a token with read access`,
      `${hub.url}: returned status 418: *** is wrong; check that the address is that of a model hub`,
    ]);
  });

  it.each([
    ['', 'is empty'],
    [' \n', 'is empty'],
    ['hf_a\nhf_b', 'contains characters that are not allowed in a token'],
    ['hf_é', 'contains characters that are not allowed in a token'],
  ])('%j is refused without being repeated', (token, problem) => {
    expect(() => open({ token, place: "ModelRegistry 'hub'" })).toThrow(
      expect.objectContaining({
        code: 'REGISTRY_TOKEN',
        message: `ModelRegistry 'hub' (token): ${problem}; give the token alone, or none`,
      }),
    );
  });
});

describe('the URL', () => {
  it.each([
    ['hub', 'is not a URL'],
    ['ftp://hub', 'is not http or https'],
    ['https://user:hunter2@hub', 'contains a password'],
    ['https://hunter2@hub', 'contains a password'],
    ['https://hub?token=hunter2', 'has a query'],
  ])('%s is refused without being repeated', (url, problem) => {
    let error: unknown;
    try {
      open({ url });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'REGISTRY_URL', place: 'registry (url)', problem });
    expect((error as Error).message).not.toContain('hunter2');
  });

  it('may have a path', async () => {
    const registry = open({ url: `${hub.url}/mirrors/hub//` });
    expect(registry.address).toBe(`${hub.url}/mirrors/hub`);
    await registry.connect();
    expect(hub.requests[0]!.path).toBe('/mirrors/hub/api/models?limit=1');
  });

  it('is reached through the proxy of the environment', async () => {
    const urls: string[] = [];
    const proxy = createServer((request, response) => {
      urls.push(request.url!);
      response.writeHead(502).end();
    });
    proxy.on('connect', (request, socket) => {
      urls.push(request.url!);
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    vi.stubEnv('http_proxy', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    vi.stubEnv('no_proxy', '');
    expect(await open({ url: 'http://hub.test' }).connect()).toMatchObject({ connected: false });
    expect(urls).toEqual([expect.stringContaining('hub.test')]);
    proxy.close();
  });
});

describe('requests', () => {
  it('escape versions and files', async () => {
    hub.put('acme/tiny', 'refs/pr/1', { 'a b/100% #1?.txt': Buffer.from('x') });
    const registry = open();
    const model = await registry.resolve('acme/tiny', 'refs/pr/1');
    expect((await bytesOf(await registry.open(model, model.files[0]!, 0))).toString()).toBe('x');
    expect(hub.requests[0]!.path).toBe('/api/models/acme/tiny/revision/refs%2Fpr%2F1?blobs=true');
    expect(hub.requests[1]!.path).toBe(`/acme/tiny/resolve/${model.revision}/a%20b/100%25%20%231%3F.txt`);
  });

  it('use the commit of a branch after it has moved', async () => {
    const registry = open();
    const model = await registry.resolve('acme/tiny');
    hub.put('acme/tiny', 'main', tinyModel('later'));
    const file = model.files.find(({ path }) => path === 'model.safetensors')!;
    expect((await bytesOf(await registry.open(model, file, 0))).equals(tinyModel('main')['model.safetensors']!)).toBe(
      true,
    );
    expect([model.version, model.revision]).toEqual(['main', commit]);
  });

  it('complete the file list of a mirror', async () => {
    const whole = await open().resolve('acme/tiny');
    hub.listsBlobs = false;
    const model = await open().resolve('acme/tiny');
    const large = (one: typeof whole) => one.files.find(({ path }) => path === 'model.safetensors');
    expect(large(model)).toEqual(large(whole));
    expect(model.files.map(({ size }) => size)).toEqual(whole.files.map(({ size }) => size));
    // What small files are tagged with is a checksum on the hub only.
    expect(model.files[0]).toMatchObject({ checksum: null, tag: whole.files[0]!.checksum!.hex });
    const heads = hub.requests.filter(({ method }) => method === 'HEAD');
    expect(heads.map(({ server }) => server)).toEqual(heads.map(() => 'hub'));
  });

  it('detect a changed small file by its ETag', async () => {
    hub.listsBlobs = false;
    const registry = open();
    const model = await registry.resolve('acme/tiny');
    hub.tamper('acme/tiny', commit, 'config.json', fakeBytes(model.files[0]!.size, 'other'));
    await expect(registry.open(model, model.files[0]!, 0)).rejects.toMatchObject({
      code: 'MODEL_FILE_CHANGED',
      problem: 'has changed',
    });
  });

  it('fail when a file has no length', async () => {
    hub.listsBlobs = false;
    hub.faults.push(({ method }, response) => {
      if (method === 'HEAD') response.writeHead(200, { 'transfer-encoding': 'chunked' }).end();
      return method === 'HEAD';
    });
    await expect(open().resolve('acme/tiny')).rejects.toMatchObject({
      code: 'REGISTRY_RESPONSE',
      place: expect.stringContaining('(file "config.json")'),
      problem: 'the response has no length',
    });
  });
});

describe('an error status', () => {
  const failure = (settings: RegistrySettings, name = 'acme/tiny', version?: string) =>
    open(settings)
      .resolve(name, version)
      .catch((error) => error);

  it.each([
    ['an unknown token', { token: TOKEN }, 'REGISTRY_TOKEN_REFUSED'],
    ['no such model', {}, 'MODEL_NOT_FOUND', 'acme/none'],
    ['no such version', {}, 'MODEL_VERSION_NOT_FOUND', 'acme/tiny', 'none'],
  ])('%s', async (_, settings, code, name = 'acme/tiny', version = undefined as string | undefined) => {
    expect(await failure(settings, name, version)).toMatchObject({ code, place: `${hub.url}/${name}` });
    expect(clock.slept).toEqual([]);
  });

  it.each([
    [401, {}, 'REGISTRY_TOKEN_NEEDED'],
    [403, {}, 'REGISTRY_FORBIDDEN'],
    [404, {}, 'MODEL_NOT_FOUND'],
    [403, { 'x-error-code': 'GatedRepo' }, 'MODEL_GATED'],
    [404, { 'x-error-code': 'EntryNotFound' }, 'MODEL_FILE_NOT_FOUND'],
    [418, {}, 'REGISTRY_RESPONSE'],
    [304, {}, 'REGISTRY_RESPONSE'],
  ])('%i with %j', async (status, headers, code) => {
    hub.once('/api/models/', answer(status, headers as Record<string, string>));
    expect(await failure({})).toMatchObject({ code });
  });

  it('404 for the list means that the URL is not a hub', async () => {
    hub.once('/api/models', answer(404, {}, '<html>'));
    expect(await open().connect()).toMatchObject({ connected: false, problem: { code: 'REGISTRY_RESPONSE' } });
  });

  it('for a gated model is returned with its files', async () => {
    hub.token = TOKEN;
    hub.put('acme/gated', 'main', tinyModel('gated'), { gated: true });
    const registry = open({ token: TOKEN });
    const model = await registry.resolve('acme/gated');
    await expect(registry.open(model, model.files[0]!, 0)).rejects.toMatchObject({
      code: 'MODEL_GATED',
      hint: "accept them on the model's page, and give a token of the same account",
    });
  });

  it('for a single file', async () => {
    hub.once('/resolve/', answer(404));
    const registry = open();
    await expect(openLarge(registry)).rejects.toMatchObject({
      code: 'MODEL_FILE_NOT_FOUND',
      place: `${hub.url}/acme/tiny (file "model.safetensors")`,
    });
  });
});

describe('a retry', () => {
  it.each([
    ['for the given seconds', { 'retry-after': '7' }, 7000],
    ['until the given time', { 'retry-after': 'Tue, 01 Jan 2030 00:00:20 GMT' }, 20_000],
    ['not at all for a time in the past', { 'retry-after': 'Mon, 31 Dec 2029 00:00:00 GMT' }, 0],
    ['until the rate limit window ends', { ratelimit: '"api";r=0;t=42' }, 42_000],
    ['a second without a header', {}, 1000],
    ['a second for an invalid header', { 'retry-after': 'soon' }, 1000],
  ])('waits %s', async (_, headers, waited) => {
    hub.once('/api/', answer(429, headers as unknown as Record<string, string>));
    expect((await open().resolve('acme/tiny')).revision).toBe(commit);
    expect(clock.slept).toEqual([waited]);
  });

  it('is not made when the wait would be an hour', async () => {
    hub.once('/api/', answer(429, { 'retry-after': '3600' }));
    await expect(open().resolve('acme/tiny')).rejects.toMatchObject({
      code: 'REGISTRY_RATE_LIMITED',
      transient: true,
      retryAfterMs: 3_600_000,
      hint: 'try again in 3600 s',
    });
    expect(clock.slept).toEqual([]);
  });

  it('waits longer after each failure', async () => {
    hub.once('/api/', answer(503, {}, '{"error": "busy"}'));
    hub.once('/api/', answer(500));
    hub.once('/api/', (response) => response.destroy());
    hub.once('/api/', answer(408));
    expect((await open().resolve('acme/tiny')).revision).toBe(commit);
    expect(clock.slept).toEqual([1000, 2000, 4000, 8000]);
  });

  it('is not made after the fifth failure', async () => {
    hub.once('/api/', answer(503, {}, '{"error": "busy"}'), 5);
    await expect(open().list({})).rejects.toMatchObject({
      code: 'REGISTRY_FAILING',
      transient: true,
      message: `${hub.url}: returned status 503: busy; try again later, or use another mirror`,
    });
    expect(clock.slept).toHaveLength(4);
  });

  it('is not made by connect', async () => {
    hub.once('/api/', answer(503));
    expect(await open().connect()).toMatchObject({ connected: false, problem: { code: 'REGISTRY_FAILING' } });
    hub.once('/api/', answer(429));
    const { problem } = (await open().connect()) as { problem: ModelError };
    expect([problem.hint, problem instanceof ModelError]).toEqual(['try again later', true]);
    expect(clock.slept).toEqual([]);
  });
});

describe('an invalid response', () => {
  const sha = 'a'.repeat(40);
  const sibling = (...names: unknown[]) => JSON.stringify({ sha, siblings: names.map((rfilename) => ({ rfilename })) });

  it.each([
    ['<html>', 'the response is not JSON'],
    ['', 'the response is not JSON'],
    ['null', 'the response has no commit'],
    ['[]', 'the response has no commit'],
    ['{"sha": "main", "siblings": []}', 'the response has no commit'],
    [`{"sha": "${sha}"}`, 'the response has no file list'],
    [`{"sha": "${sha}", "siblings": [3]}`, 'the response has no file list'],
    [sibling(7), 'the response has no file list'],
  ])('%s', async (body, problem) => {
    hub.once('/api/', answer(200, {}, body));
    await expect(open().resolve('acme/tiny')).rejects.toMatchObject({ code: 'REGISTRY_RESPONSE', problem });
  });

  it.each([
    ['../outside'],
    ['/etc/passwd'],
    ['a/../../b'],
    ['a//b'],
    ['a\\b'],
    ['a\0b'],
    ['C:x'],
    ['.'],
    [''],
    ['x'.repeat(256)],
    ['x/'.repeat(600)],
    ['a', 'a'],
    ['a', 'a/b'],
  ])('a file called %j', async (...names) => {
    hub.once('/api/', answer(200, {}, sibling('config.json', ...names)));
    await expect(open().resolve('acme/tiny')).rejects.toMatchObject({
      code: 'MODEL_FILE_NAME',
      place: `${hub.url}/acme/tiny (file ${JSON.stringify(names.at(-1))})`,
    });
  });

  it('is not read without limit', async () => {
    const mebibyte = Buffer.alloc(2 ** 20, ' ');
    hub.once('/api/', (response) => {
      response.writeHead(200);
      for (let i = 0; i < 65; i++) response.write(mebibyte);
      response.end('{}');
    });
    await expect(open().resolve('acme/tiny')).rejects.toMatchObject({ problem: 'the response is not JSON' });
  });

  it('skips list entries that are not models', async () => {
    hub.once('/api/models', answer(200, {}, '[{"modelId": "acme/old"}, {}, null, {"id": 3}]'));
    expect(await open().list({})).toEqual([{ name: 'acme/old', versions: [] }]);
    hub.once('/api/models', answer(200, {}, '{}'));
    await expect(open().list({})).rejects.toMatchObject({ problem: 'the response is not a list of models' });
  });
});

describe('redirects', () => {
  it.each([
    ['in circles', { location: '/api/models?limit=1' }, 'redirects more than 10 times'],
    ['to nowhere', {}, 'redirects to something that is not an http URL'],
    ['to a file', { location: 'file:///etc/passwd' }, 'redirects to something that is not an http URL'],
    ['to nonsense', { location: 'http://[' }, 'redirects to something that is not an http URL'],
  ])('%s', async (_, headers, problem) => {
    hub.once('/api/', answer(302, headers as unknown as Record<string, string>), 20);
    expect(await open().connect()).toMatchObject({ problem: { code: 'REGISTRY_REDIRECT', problem } });
  });

  it('from https to http', () => {
    const redirect = (location: string) => redirected(new URL('https://hub/a/b'), location, 'the hub').href;
    expect(redirect('../c')).toBe('https://hub/c');
    expect(redirect('https://cdn/x')).toBe('https://cdn/x');
    expect(() => redirect('http://hub/a')).toThrow(
      expect.objectContaining({ code: 'REGISTRY_REDIRECT', place: 'the hub', problem: 'redirects from https to http' }),
    );
  });
});

describe('a connection problem', () => {
  const problem = async (url: string) => ((await open({ url }).connect()) as { problem: ModelError }).problem;

  it('connection refused', async () => {
    expect(await problem('http://127.0.0.1:1')).toMatchObject({
      code: 'REGISTRY_UNREACHABLE',
      transient: true,
      message: 'http://127.0.0.1:1: connection refused; check its address, the network and the proxy',
    });
  });

  it.skipIf(certificate === null)('untrusted certificate', async () => {
    const [cert, key] = [readFileSync(certificate!.cert), readFileSync(certificate!.key)];
    const server = createSecureServer({ cert, key });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    vi.stubEnv('https_proxy', '');
    const { message } = await problem(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(message).toMatch(/: certificate not accepted \(\w+\); /);
    server.close();
  });

  it.each([
    [{ code: 'UND_ERR_BODY_TIMEOUT' }, 'response stalled'],
    [{ code: 'ENOTFOUND' }, 'host not found'],
    [{ cause: { code: 'ECONNRESET' } }, 'connection reset'],
    [{ code: 'HPE_INVALID_CONSTANT' }, 'HPE_INVALID_CONSTANT'],
    [{ cause: null }, 'connection failed'],
  ])('%j', (error, words) => {
    expect(networkProblem(error)).toBe(words);
  });
});

describe('a range of a file', () => {
  it('begins at 0 when the server ignores the range', async () => {
    hub.once('/blobs/', answer(200, {}, 'x'.repeat(300_000)));
    const { begins, bytes } = await openLarge(open(), 1000);
    expect([begins, (await bytesOf({ begins, bytes })).length]).toEqual([0, 300_000]);
  });

  it.each([
    ['of another place', { 'content-range': 'bytes 900-299999/300000' }, 206, 'another range was returned'],
    ['of no place', {}, 206, 'another range was returned'],
    ['of a longer file', { 'content-range': 'bytes 1000-399999/400000' }, 206, 'has 400000 bytes now, not 300000'],
    ['of another length', { 'content-length': '3' }, 200, 'has 3 bytes now, not 300000'],
    ['beyond its end', {}, 416, 'is shorter than it was'],
  ])('%s', async (_, headers, status, problem) => {
    hub.once('/blobs/', answer(status, headers as unknown as Record<string, string>, 'xxx'));
    await expect(openLarge(open(), 1000)).rejects.toMatchObject({ code: 'MODEL_FILE_CHANGED', problem });
  });

  it('of a file of unknown length', async () => {
    hub.once('/blobs/', answer(206, { 'content-range': 'bytes 299999-299999/*' }, 'x'));
    expect((await bytesOf(await openLarge(open(), 299_999))).toString()).toBe('x');
  });

  it('that ends too early', async () => {
    hub.once('/blobs/', (response) => {
      response.writeHead(200, { 'content-length': 300_000 });
      response.write('x'.repeat(1000), () => response.destroy());
    });
    await expect(openLarge(open()).then(bytesOf)).rejects.toMatchObject({
      code: 'REGISTRY_UNREACHABLE',
      problem: 'connection reset',
      transient: true,
    });
  });

  it('that is refused with an HTML page', async () => {
    hub.once('/blobs/', (response) => refuse(response, 403, undefined, 'Request has expired'));
    await expect(openLarge(open())).rejects.toMatchObject({ problem: 'access denied: Request has expired' });
  });
});
