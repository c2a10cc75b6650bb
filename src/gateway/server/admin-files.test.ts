import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configFor, startGateway } from '../fake-engine.fixture.js';
import { Gateway } from '../gateway.js';
import { AdminFiles } from './admin-files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-admin-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('AdminFiles', () => {
  it('creates a token once, readable by its owner only', () => {
    const data = join(folder, 'data');
    expect([new AdminFiles(data).knownToken(), existsSync(data)]).toEqual([null, false]);
    const token = new AdminFiles(data).token();
    expect(new AdminFiles(data).knownToken()).toBe(token);
    expect(token).toMatch(/^[\w-]{32}$/);
    chmodSync(join(data, 'admin-token'), 0o644);
    expect(new AdminFiles(data).token()).toBe(token);
    expect([modeOf(data), modeOf(join(data, 'admin-token')), readdirSync(data)]).toEqual([
      '700',
      '600',
      ['admin-token'],
    ]);
  });

  it('publishes the address of the port while it is open', () => {
    const path = join(folder, 'admin.json');
    const [one, other] = [new AdminFiles(folder), new AdminFiles(folder)];
    one.tell('http://0.0.0.0:81', 't');
    expect([JSON.parse(readFileSync(path, 'utf8')), modeOf(path)]).toEqual([
      { url: 'http://127.0.0.1:81', token: 't' },
      '600',
    ]);
    other.tell('http://[::]:82', 't');
    one.withdraw();
    expect(JSON.parse(readFileSync(path, 'utf8')).url).toBe('http://[::1]:82');
    other.withdraw();
    other.withdraw();
    expect(existsSync(path)).toBe(false);
    other.tell('http://127.0.0.1:83', 't');
    rmSync(path);
    other.withdraw();
  });

  it('writes nothing on a restart with the same token and address, as on a full disk', () => {
    const first = new AdminFiles(folder);
    const token = first.token();
    first.tell('http://127.0.0.1:81', token);
    const before = ['admin-token', 'admin.json'].map((name) => statSync(join(folder, name), { bigint: true }));
    const second = new AdminFiles(folder);
    second.tell('http://127.0.0.1:81', second.token());
    for (const [i, name] of ['admin-token', 'admin.json'].entries()) {
      const { ino, mtimeNs } = statSync(join(folder, name), { bigint: true });
      expect([ino, mtimeNs]).toEqual([before[i]!.ino, before[i]!.mtimeNs]);
    }
    second.withdraw();
    expect(existsSync(join(folder, 'admin.json'))).toBe(false);
  });

  it('reports files it cannot use', () => {
    writeFileSync(join(folder, 'admin-token'), 'short\n');
    const unusable = expect.objectContaining({ code: 'ADMIN_FILE_UNUSABLE' });
    expect(() => new AdminFiles(folder).token()).toThrowError(unusable);
    expect(() => new AdminFiles(folder).knownToken()).toThrowError(unusable);
    expect(() => new AdminFiles(join(folder, 'admin-token')).token()).toThrowError(unusable);
    expect(() => new AdminFiles(join(folder, 'admin-token')).knownToken()).toThrowError(unusable);
  });
});

describe('a gateway', () => {
  it('with a store keeps its token over a restart, and its address while it runs', async () => {
    const change = { endpoints: [], store: join(folder, 'x.db'), dataDir: join(folder, 'data') };
    const path = join(folder, 'data', 'admin.json');
    const first = await startGateway([], change);
    const { adminToken: token, adminUrl: url } = first;
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ url, token });
    await first.close(0);
    expect(existsSync(path)).toBe(false);
    const second = await startGateway([], change);
    expect(second.adminToken).toBe(token);
    await second.close(0);
  });

  it('writes nothing before it is announced, and deletes only its own files', async () => {
    const change = { endpoints: [], store: join(folder, 'x.db'), dataDir: join(folder, 'data') };
    const path = join(folder, 'data', 'admin.json');
    const first = await startGateway([], change);
    const written = readFileSync(path, 'utf8');
    const second = new Gateway(configFor([], change));
    await second.start({ isAnnounced: false });
    expect([second.adminToken, second.adminTokenPath]).toEqual([first.adminToken, join(folder, 'data', 'admin-token')]);
    await second.close(0);
    expect(readFileSync(path, 'utf8')).toBe(written);
    await first.close(0);
    const third = new Gateway(configFor([], { ...change, dataDir: join(folder, 'other') }));
    await third.start({ isAnnounced: false });
    const files = ['admin-token', 'admin.json'].map((name) => join(folder, 'other', name));
    expect([third.adminTokenPath, files.filter(existsSync)]).toEqual([null, []]);
    third.announce();
    expect([third.adminTokenPath, files.filter(existsSync)]).toEqual([files[0], files]);
    await third.close(0);
    expect(files.filter(existsSync)).toEqual([files[0]]);
  });

  it('without a store writes nothing', async () => {
    const gateway = await startGateway([], { endpoints: [], dataDir: join(folder, 'data') });
    expect(readdirSync(folder)).toEqual([]);
    await gateway.close(0);
  });
});
