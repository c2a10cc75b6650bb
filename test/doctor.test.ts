import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { FakeEngine } from '../src/gateway/fake-engine.fixture.js';
import { POSTGRES_PROGRAMS, startPostgres } from '../src/store/postgres.fixture.js';
import { fakeEngine, until } from './support/engine-fixture.js';
import { afterwards, gatewayOver } from './support/gateway-fixture.js';
import { captured } from './support/test-io.js';

const root = mkdtempSync(join(tmpdir(), 'twinyard-doctor-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFolder = () => mkdtempSync(join(root, `${folders++}-`));

const ANY_PORT = ['--port', '0', '--admin-port', '0'];

interface Check {
  readonly check: string;
  readonly place: string;
  readonly problem: string;
  readonly hint: string;
}

/** Runs it with a data folder that does not matter unless it is given. */
async function examined(args: readonly string[], ports = ANY_PORT) {
  const { code, stderr, stdout } = await captured(['doctor', '--format', 'json', ...args, ...ports]);
  expect(stderr).toBe('');
  const { checks, findings } = JSON.parse(stdout) as { checks: Check[]; findings: number };
  const found = checks.filter(({ problem }) => problem !== '');
  expect([code, findings]).toEqual([found.length === 0 ? 0 : 1, found.length]);
  for (const { hint } of found) expect(hint).not.toBe('');
  return { found, kinds: new Set(checks.map(({ check }) => check)) };
}

async function fake(): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  afterwards(() => engine.kill());
  return engine;
}

describe('twinyard doctor', () => {
  test('finds nothing wrong in front of emulated engines, and prints a line per check', async () => {
    const engines = [await fakeEngine(), await fakeEngine()];
    const replicas = engines.flatMap(({ url }) => ['--replica', url]);
    const { found, kinds } = await examined([...replicas, '--store', join(newFolder(), 'twinyard.db')]);
    expect(found).toEqual([]);
    expect([...kinds].sort()).toEqual(
      ['clock', 'config', 'folder', 'limit', 'port', 'replica', 'signals', 'store', 'version'].sort(),
    );
    const { code, stdout } = await captured(['doctor', ...replicas, ...ANY_PORT]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {7}config {3}flags: valid\n/);
    expect(stdout).toMatch(/\nno findings in \d+ checks\n$/);
  });

  test('changes nothing', async () => {
    const folder = newFolder();
    await examined(['--data-dir', join(folder, 'data')]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('an invalid file is a finding with its place', async () => {
    const path = join(newFolder(), 'bad.yaml');
    writeFileSync(path, 'replicas: [{ url: "http://h:1", engin: tgi }]\n');
    const { found } = await examined(['-c', path]);
    expect(found).toMatchObject([{ check: 'config', place: expect.stringContaining(':1:33') }]);
    const { code, stdout } = await captured(['doctor', '-c', path]);
    expect([code, stdout.split('\n')[0]]).toEqual([
      1,
      expect.stringMatching(/^finding {2}config .*bad\.yaml:1:33 .*unknown key 'engin'; /),
    ]);
    expect(stdout).toContain('\n1 finding in ');
  });

  test('reports replicas that are down, not ready, without models or signals, or closed', async () => {
    const [down, loading, empty, mute] = [await fake(), await fake(), await fake(), await fake()];
    const closed = await fake();
    closed.pages.set('/v1/models', { status: 401, text: '{"error":"Unauthorized"}' });
    await down.kill();
    loading.health = 503;
    empty.models = [];
    mute.metrics = 'vllm:num_requests_running 0\n';
    const args = [down, loading, empty, mute, closed].flatMap(({ url }) => ['--replica', url]);
    const { found } = await examined(args);
    const host = ({ url }: { url: string }) => new URL(url).host;
    expect(found.map(({ check, place, problem }) => [check, place, problem])).toEqual([
      ['replica', host(down), 'connection refused'],
      ['replica', host(loading), '/health returned status 503'],
      ['replica', host(empty), '/v1/models names no model'],
      ['signals', host(mute), 'does not report waiting, kvUsed'],
      ['replica', host(closed), 'requires an API key, which the gateway does not send to replicas'],
    ]);
  });

  test('reports a replica that does not respond', async () => {
    const engine = await fake();
    engine.hangs.add('/health');
    const path = join(newFolder(), 'twinyard.yaml');
    writeFileSync(path, `replicas: [{ url: "${engine.url}", id: slow }]\nhealth: { timeout_ms: 50 }\n`);
    const { found } = await examined(['-c', path]);
    expect(found).toMatchObject([{ place: `slow (${engine.url})`, problem: 'no response in 0.05 s' }]);
  });

  test('looks where replicas are found, and reports why none are', async () => {
    const applications = { chat: { route_prefix: '/' } };
    const targets = [{ ip: '127.0.0.1', port: 1, name: 'SERVE_REPLICA::chat#Model#a' }];
    const groups = [{ app_name: 'chat', protocol: 'HTTP', route_prefix: '/', targets }];
    const dashboard = createServer((_, response) =>
      response.end(JSON.stringify({ controller_info: { pid: 1 }, applications, target_groups: groups })),
    );
    await new Promise<void>((resolve) => dashboard.listen(0, '127.0.0.1', resolve));
    afterwards(async () => void dashboard.close());
    const url = `http://127.0.0.1:${(dashboard.address() as AddressInfo).port}`;
    const { found, kinds } = await examined(['--ray-serve', url]);
    expect([found, kinds.has('discovery')]).toEqual([[], true]);
    expect((await examined(['--ray-serve', `${url},app=other`])).found).toMatchObject([
      { check: 'discovery', place: "endpoint 'default'", problem: "application 'other' is not deployed" },
    ]);
    const missing = join(newFolder(), 'token');
    expect((await examined(['--ray-serve', `${url},token_file=${missing}`])).found).toMatchObject([
      { check: 'discovery', place: missing },
    ]);
    const kubeconfig = join(newFolder(), 'config');
    const unreached = await examined(['--kube', `service=vllm,kubeconfig=${kubeconfig}`]);
    expect(unreached.found).toMatchObject([{ check: 'discovery', place: kubeconfig }]);
  });

  test('reports clocks and versions that differ', async () => {
    const [first, second] = [await fake(), await fake()];
    first.pages.set('/version', { status: 200, text: '{"version":"0.10.2"}' });
    second.pages.set('/version', { status: 200, text: '{"version":"0.11.0"}' });
    second.early = (request, response) => {
      response.setHeader('date', new Date(Date.now() - 60_000).toUTCString());
      return request.url === '/never';
    };
    const { found } = await examined(['--replica', first.url, '--replica', second.url]);
    const [a, b] = [first, second].map(({ url }) => new URL(url).host);
    expect(found.map(({ check, place, problem }) => [check, place, problem])).toEqual([
      ['clock', b, expect.stringMatching(/^its clock is (59|60|61)\.\d s behind$/)],
      ['version', 'endpoint default', `its replicas run different versions (${a} 0.10.2, ${b} 0.11.0)`],
    ]);
  });

  test('a port in use is a finding, unless a gateway has it', async () => {
    const other = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    afterwards(async () => other.close());
    const engine = await fakeEngine();
    const gateway = await gatewayOver([engine]);
    const port = (url: string) => new URL(url).port;
    const taken = String((other.address() as AddressInfo).port);
    const bad = await examined(['--replica', engine.url], ['--port', taken, '--admin-port', '0']);
    expect(bad.found).toMatchObject([{ check: 'port', problem: `port ${taken} of 127.0.0.1 is already in use` }]);
    const own = ['--port', port(gateway.url), '--admin-port', port(gateway.adminUrl)];
    expect((await examined(['--replica', engine.url], own)).found).toEqual([]);
  });

  test('reports folders and files with wrong rights', async () => {
    const folder = newFolder();
    const data = newFolder();
    chmodSync(data, 0o777);
    writeFileSync(join(data, 'admin-token'), 'x', { mode: 0o644 });
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const open = await examined(['--data-dir', data]);
    expect(open.found.map(({ check, place, hint }) => [check, place, hint])).toEqual([
      ['folder', data, `run 'chmod o-w ${data}'`],
      ['file', join(data, 'admin-token'), `run 'chmod 600 ${join(data, 'admin-token')}'`],
    ]);
    const under = await examined(['--data-dir', join(file, 'data')]);
    expect(under.found[0]).toMatchObject({ check: 'folder', place: file, problem: 'is not a folder' });
    const engine = await fakeEngine();
    const record = await examined(['--replica', engine.url, '--record', join(folder, 'none', 'traffic.jsonl')]);
    expect(record.found).toMatchObject([{ check: 'folder', place: join(folder, 'none'), problem: 'does not exist' }]);
  });

  test('reports a limit of open files that is too low', async () => {
    const engine = await fakeEngine();
    const path = join(newFolder(), 'twinyard.yaml');
    writeFileSync(path, `replicas: [{ url: "${engine.url}" }]\nlimits: { connections: 1000000 }\n`);
    const { found } = await examined(['-c', path]);
    const { soft } = (process.report.getReport() as never as { userLimits: { open_files: { soft: number } } })
      .userLimits.open_files;
    if (soft >= 2_000_000) expect(found).toEqual([]);
    else expect(found).toMatchObject([{ check: 'limit', hint: expect.stringContaining('raise it to 2000000') }]);
  });

  test('reports a store that is no store', async () => {
    const engine = await fakeEngine();
    const path = join(newFolder(), 'twinyard.db');
    writeFileSync(path, 'not a database, but long enough to be taken for one '.repeat(100));
    chmodSync(path, 0o600);
    const { found } = await examined(['--replica', engine.url, '--store', path]);
    expect(found).toMatchObject([{ check: 'store' }]);
    const gone = await examined(['--replica', engine.url, '--store', 'postgres://u:secret@127.0.0.1:1/d']);
    expect(gone.found).toMatchObject([{ check: 'store', problem: expect.stringContaining('cannot be reached') }]);
    expect(JSON.stringify(gone.found)).not.toContain('secret');
  });

  test('reports what a running gateway reports of its replicas, and one that is gone', async () => {
    const engine = await fake();
    const data = newFolder();
    const health = { intervalMs: 20, timeoutMs: 2000, failures: 1 };
    const gateway = await gatewayOver([engine], { store: join(data, 'twinyard.db'), dataDir: data, health });
    gateway.announce();
    const args = ['--data-dir', data];
    const { found, kinds } = await examined(args);
    expect([found, kinds.has('gateway')]).toEqual([[], true]);
    const wrong = await examined([...args, '--server', gateway.adminUrl, '--token', 'x'.repeat(32)]);
    expect(wrong.found).toMatchObject([{ check: 'gateway', place: '--token' }]);
    engine.health = 503;
    await until(() => gateway.replicas().some(({ state }) => state === 'unhealthy'));
    expect((await examined(args)).found).toMatchObject([
      { check: 'replica', place: 'default/default/r0', problem: 'is unhealthy (/health says 503)' },
    ]);
    await engine.kill();
    const path = join(data, 'admin.json');
    writeFileSync(path, JSON.stringify({ url: engine.url, token: 't' }), { mode: 0o600 });
    const gone = await examined(args);
    expect(gone.found).toMatchObject([
      { check: 'gateway', place: path, problem: 'names a gateway that is not running' },
    ]);
  });
});

describe.skipIf(POSTGRES_PROGRAMS === null)('a store in PostgreSQL', () => {
  test('is checked with its clock, and stays empty', async () => {
    const postgres = await startPostgres();
    afterwards(() => postgres.stop());
    const url = await postgres.freshUrl();
    const engine = await fakeEngine();
    const args = ['--replica', engine.url, '--store', url, '--data-dir', newFolder()];
    const { found, kinds } = await examined(args);
    expect([found, kinds.has('clock')]).toEqual([[], true]);
    expect((await examined(args)).found).toEqual([]);
    await postgres.run(`do $$ begin
      if exists (select from information_schema.tables where table_name like 'twinyard%') then
        raise exception 'tables were created';
      end if;
    end $$`);
  });
});
