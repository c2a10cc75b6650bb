import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { main } from '../src/cli/main.js';
import { randomStream } from '../src/kernel/random-stream.js';
import { CLI } from './support/cli.js';
import { fakeEngine, question, until } from './support/engine-fixture.js';
import { afterwards } from './support/gateway-fixture.js';
import { anyChat, Clients, type Ended, expectResponseed } from './support/gateway-load.js';
import { captured, testIo } from './support/test-io.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-serve-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** `serve` or `demo` inside this process: its output, and ways to reload and stop it. */
function started(args: readonly string[]) {
  let stop = () => {};
  let reload = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const io = {
    ...testIo({ stopped }),
    onHangUp: (given: () => void) => {
      reload = given;
    },
  };
  const ended = main(args, io);
  afterwards(async () => {
    stop();
    await ended;
  });
  /**
   * Resolves with the groups of a pattern when the output of the command matches it; fails when it ends before.
   */
  const says = async (pattern: RegExp): Promise<string[]> => {
    let code: number | null = null;
    void ended.then((given) => {
      code = given;
    });
    for (;;) {
      const match = pattern.exec(io.stderrText() + io.stdoutText());
      if (match !== null) return match.slice(1);
      if (code !== null) throw new Error(`ended with ${code}: ${io.stderrText()}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { says, stop, reload: () => reload(), ended, stderr: io.stderrText };
}

const ANY_PORT = ['--port', '0', '--admin-port', '0'];

const ask = (url: string, id: string, body: object = question('hello', { max_tokens: 3 })) =>
  fetch(`${url}/v1/chat/completions`, { method: 'POST', headers: { 'x-request-id': id }, body: JSON.stringify(body) });

test.each([
  ['serve', '--decision-log'],
  ['demo', '--replicas'],
  ['explain', '--server'],
])('%s --help lists its flags', async (command, flag) => {
  const { code, stdout } = await captured(`${command} --help`);
  expect([code, stdout]).toEqual([0, expect.stringContaining(flag)]);
});

describe('twinyard serve', () => {
  test.each([
    ['serve --replica nowhere', /--replica: 'nowhere' is not a URL/],
    ['serve --replica ftp://h', /--replica: 'ftp:\/\/h' is not an address of a web server/],
    ['serve --replica http://h:1/v1', /--replica: 'http:\/\/h:1\/v1' has a path/],
    ['serve --replica http://h:1 --replica http://h:1', /--replica: 'http:\/\/h:1' is given twice/],
    ['serve --replica http://h:1 --engine vlm', /--engine: 'vlm' is not known; .*vllm/],
    ['serve --replica http://h:1 --routing-policy wighted', /--routing-policy: 'wighted' is not known/],
    ['serve --replica http://h:1 --policy-options {"x":1}', /--policy-options/],
    ['serve --replica http://h:1 --port 70000', /--port/],
    ['serve --replica http://h:1 --drain -1', /--drain/],
    ['serve -c none.yaml', /--config: 'none.yaml' .*the path of a readable file/],
    ['serve -c none.yaml --replica http://h:1', /--replica.*none.yaml sets the replicas/],
    [
      'serve --replica http://h:1 --decision-log none/d.jsonl --port 0 --admin-port 0',
      /none\/d.jsonl: cannot be written/,
    ],
    ['serve --replica http://h:1 --record -', /--record: '-' is not a file; give a path such as traffic.jsonl/],
    [
      'serve --replica http://h:1 --record a.jsonl --access-log ./a.jsonl',
      /a.jsonl: is meant for record and for access_log; give each a file of its own/,
    ],
    [
      'serve --replica http://h:1 --store mysql://u:secret@h/d --port 0 --admin-port 0',
      /^twinyard: store mysql:\/\/\.\.\.: is neither SQLite nor PostgreSQL; give a path/,
    ],
    [
      'serve --replica http://h:1 --host 192.0.2.1 --port 0 --admin-port 0',
      /--host: '192.0.2.1' is not an address of this machine/,
    ],
  ])('%s is refused', async (args, message) => {
    const { code, stderr, stdout } = await captured(args);
    expect([code, stdout, stderr.trimEnd().split('\n').length]).toEqual([2, '', 1]);
    expect(stderr).toMatch(message);
  });

  test.each([
    ['policy: { routing: { policy: random } }', /--replica: is required/],
    ['replicas: [{ url: "http://h:1", engin: tgi }]', /:1:33 \(replicas\[0\]\.engin\): unknown key 'engin'/],
    [
      'replicas: [{ url: "http://h:1" }]\nlisten: { cert: none.pem, key: none.key }',
      /none.pem: cannot be read \(no such file\)/,
    ],
  ])('a file with %j is refused', async (text, message) => {
    const { code, stderr } = await captured(['serve', '-c', fileOf('bad.yaml', text), ...ANY_PORT]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  test('reports which of its ports is in use', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    const onPort = await captured(`serve --replica http://127.0.0.1:1 --port ${port} --admin-port 0`);
    expect([onPort.code, onPort.stderr]).toEqual([
      2,
      expect.stringContaining(`--port: port ${port} of 127.0.0.1 is already in use`),
    ]);
    const onAdmin = await captured(`serve --replica http://127.0.0.1:1 --port 0 --admin-port ${port}`);
    expect([onAdmin.code, onAdmin.stderr]).toEqual([2, expect.stringContaining(`--admin-port: port ${port} of`)]);
    holder.close();
  });

  test('serves, explains its decisions, and a replay decides the same', async () => {
    const engines = [await fakeEngine(), await fakeEngine()];
    const log = join(folder, 'decisions.jsonl');
    const gateway = started([
      ...['serve', ...ANY_PORT, '--decision-log', log],
      ...engines.flatMap(({ url }) => ['--replica', url]),
    ]);
    const [url, ready] = await gateway.says(/serving on (\S+), (\d of \d) replicas ready/);
    const [adminUrl, token] = await gateway.says(/admin on (\S+), token (\S+)/);
    expect(ready).toBe('2 of 2');
    for (let i = 0; i < 6; i++) expect((await ask(url!, `q${i}`)).status).toBe(200);

    const explain = ['explain', 'q5', '--server', adminUrl!];
    const explained = await captured([...explain, '--token', token!]);
    expect(explained).toMatchObject({ code: 0, stderr: '' });
    expect(explained.stdout).toMatch(
      /^request q5: \d+ tokens, \d+ blocks of 16\nendpoint default, policy unified \([0-9a-f]{12}\), try 1/,
    );
    expect(explained.stdout).toMatch(/\n> 127\.0\.0\.1:\d+ /);
    const json = await captured([...explain, '--format', 'json'], { env: { TWINYARD_TOKEN: token! } });
    expect(JSON.parse(json.stdout)).toMatchObject({ id: 'q5', policy: 'unified', replicas: [{}, {}] });
    expect(await captured([...explain, '--token', 'wrong'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the admin token is missing or wrong'),
    });
    expect(await captured(['explain', 'none', '--server', adminUrl!, '--token', token!])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("request 'none': has no recorded decision"),
    });
    const publicPort = await captured(['explain', 'q5', '--server', url!, '--token', token!]);
    expect([publicPort.code, publicPort.stderr]).toEqual([1, expect.stringContaining('is this the admin port')]);

    gateway.stop();
    expect(await gateway.ended).toBe(0);
    expect(gateway.stderr()).toContain('stopping, 0 requests in flight');
    const replayed = await captured(['replay', '--decisions', log]);
    expect([replayed.code, JSON.parse(replayed.stdout)]).toEqual([
      0,
      { decisions: 6, equal: 6, different: 0, policies: { unified: 6 }, differences: [] },
    ]);
    const requests = readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"type":"request"'));
    expect(new Set(requests.map((line) => JSON.parse(line).policy)).size).toBe(1);
    const others = engines.map(({ url: one }) => new URL(one).host);
    const { replica } = JSON.parse(requests[0]!);
    const changed = readFileSync(log, 'utf8').replace(
      `"replica":"${replica}"`,
      `"replica":"${others.find((one) => one !== replica)}"`,
    );
    const different = await captured(['replay', '--decisions', fileOf('changed.jsonl', changed)]);
    expect([different.code, JSON.parse(different.stdout).different]).toEqual([1, 1]);
    expect((await captured(['replay', '--decisions', log, '--seed', '1'])).code).toBe(2);
    expect(await captured(['replay', '--decisions', join(folder, 'none')])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/none/),
    });
  });

  test('without replicas is a control plane: prints its data folder and what to do, and not its token', async () => {
    const data = join(folder, 'plane');
    const args = ['serve', ...ANY_PORT, '--data-dir', data];
    const first = started(args);
    const [path] = await first.says(/admin on \S+, token in (.+)\n/);
    const [url] = await first.says(/serving on (\S+), no endpoint yet\n/);
    expect(path).toBe(join(data, 'admin-token'));
    const token = readFileSync(path!, 'utf8').trim();
    expect(first.stderr()).not.toContain(token);
    const next = `twinyard apply -f examples/endpoints/emulated.yaml --data-dir ${data}`;
    expect(first.stderr().split('\n').slice(0, 2)).toEqual([
      `twinyard: control plane, data in ${data}`,
      `twinyard: to run something: ${next}`,
    ]);

    // A second one on the same folder is refused, and the first is found as before.
    const written = readFileSync(join(data, 'admin.json'), 'utf8');
    const second = await captured(args);
    expect([second.code, second.stderr]).toEqual([
      1,
      expect.stringMatching(/in use by another control plane; stop that one, or .* another folder/),
    ]);
    expect(readFileSync(join(data, 'admin.json'), 'utf8')).toBe(written);
    expect(await captured(['get', 'endpoints', '--data-dir', data])).toMatchObject({ code: 0 });

    // `explain` finds it too, by its folder or by flags.
    const lost = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-request-id': 'lost' },
      body: JSON.stringify(question('x')),
    });
    expect(lost.status).toBe(404);
    const adminUrl = (JSON.parse(written) as { url: string }).url;
    for (const [more, env] of [
      [['--data-dir', data], {}],
      [[], { TWINYARD_SERVER: adminUrl, TWINYARD_TOKEN: token }],
      [['--server', adminUrl], { TWINYARD_TOKEN: token }],
    ] as const) {
      const explained = await captured(['explain', 'lost', ...more], { env });
      expect([explained.code, explained.stdout]).toEqual([0, expect.stringContaining('request lost')]);
    }
    first.stop();
    expect(await first.ended).toBe(0);
    expect(existsSync(join(data, 'admin.json'))).toBe(false);
  });

  test('reports a file in place of its data folder', async () => {
    const { code, stderr } = await captured(['serve', ...ANY_PORT, '--data-dir', fileOf('taken', '')]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/its data folder is a file; move that file/)]);
  });

  test('says in its help what it does without replicas', async () => {
    const { stdout } = await captured('serve --help');
    expect(stdout).toMatch(/it is a control\s+plane: [\s\S]* keeps its data in\s+\.twinyard/);
  });

  test('explain reports what it needs', async () => {
    expect(await captured('explain')).toMatchObject({ code: 2, stderr: expect.stringContaining('<request-id>') });
    expect(await captured('explain q --data-dir none')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('or --server and --token'),
    });
    expect(await captured('explain q --token t --server nowhere')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--server: 'nowhere' is not a URL"),
    });
    expect(await captured('explain q --token t --server http://127.0.0.1:1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is 'twinyard serve' running there?"),
    });
  });

  test('reloads its file on a signal, and drops no request', async () => {
    const [one, two] = [await fakeEngine(), await fakeEngine({ modelName: 'late' })];
    const config = (urls: string[], policy: string, more = '') =>
      `listen: { port: 0 }\nadmin: { port: 0 }\npolicy: { routing: { policy: ${policy} } }\nreplicas:\n${urls.map((url) => `  - { url: "${url}" }\n`).join('')}${more}`;
    const path = fileOf('twinyard.yaml', config([one.url], 'round-robin'));
    const gateway = started(['serve', '-c', path]);
    const [url] = await gateway.says(/serving on (\S+), 1 of 1/);
    const held = ask(url!, 'held', question('x', { max_tokens: 2000, ignore_eos: true, stream: true }));
    await until(() => one.stats().running === 1);

    fileOf('twinyard.yaml', config([one.url, two.url], 'least-loaded', 'seed: 7\n'));
    gateway.reload();
    await gateway.says(/configuration reloaded; needs a restart: seed/);
    let late: Response;
    do late = await ask(url!, 'late', question('x', { model: 'late', max_tokens: 1 }));
    while (late.status === 503);
    expect(late.headers.get('x-twinyard-decision')).toMatch(/^least-loaded: /);

    fileOf('twinyard.yaml', config([two.url], 'nonsense'));
    gateway.reload();
    await gateway.says(/configuration not reloaded: .*unknown routing policy 'nonsense'/);
    fileOf('twinyard.yaml', config([two.url], 'random'));
    gateway.reload();
    await gateway.says(/configuration not reloaded[\s\S]*configuration reloaded\n/);
    expect((await ask(url!, 'gone')).status).toBe(404);
    expect(await (await held).text()).toMatch(/data: \[DONE\]\n\n$/);
    gateway.stop();
    expect(await gateway.ended).toBe(0);
  });

  test('on SIGTERM under load finishes its requests, refuses the rest, and exits', async () => {
    const engines = [await fakeEngine(), await fakeEngine()];
    const args = ['serve', ...ANY_PORT, ...engines.flatMap(({ url }) => ['--replica', url])];
    const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    afterwards(async () => child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    const lines: string[] = [];
    const reader = createInterface({ input: child.stderr });
    reader.on('line', (line) => lines.push(line));
    while (lines.length < 2) await once(reader, 'line');
    const [, url] = /serving on (\S+), 2 of 2/.exec(lines[0]!)!;
    const clients = new Clients(url!);
    const random = randomStream(8, 'term');
    const all: Ended[] = [];
    const client = async () => {
      for (;;) {
        const ended = await clients.send(anyChat(random, 60));
        all.push(ended);
        if (all.length === 100) child.kill('SIGTERM');
        if (ended.status !== 200) return;
      }
    };
    await Promise.all(Array.from({ length: 16 }, client));
    expect(await exited).toEqual([0, null]);
    expect(lines.at(-1)).toMatch(/^twinyard: stopping, \d+ requests in flight$/);
    expect(all.length).toBeGreaterThan(110);
    for (const ended of all) {
      // Refused, or not even connected; never dropped. The system resets connections that the process has not accepted yet.
      if (ended.status === 0) expect(['ECONNREFUSED', 'ECONNRESET']).toContain(ended.code);
      else {
        expectResponseed(ended);
        expect([200, 503]).toContain(ended.status);
      }
    }
    expect(all.filter(({ text }) => text.includes('data: {"error"'))).toEqual([]);
  });
});

describe('twinyard demo', () => {
  test('starts everything, prints what to try, and leaves nothing behind', async () => {
    const demo = started(['demo', '--port', '0', '--replicas', '2', '--speed', '1000', '--demo-load']);
    const [count, url] = await demo.says(/Twinyard is up: (\d) emulated replicas of qwen\/qwen3-14b behind (\S+)\. /);
    expect(count).toBe('2');
    const [curl] = await demo.says(/curl -i (.*)\n/);
    expect(curl).toContain(`${url}/v1/chat/completions`);
    const body = /-d '(.*)'/.exec(curl!)![1]!;
    expect((await ask(url!, 'first', JSON.parse(body))).status).toBe(200);
    const [command] = await demo.says(/npx twinyard (explain first .*)\n/);
    expect((await captured(command!)).stdout).toMatch(/^request first: /);
    const { stdout } = await captured(command!.replace('explain first', 'profiles list'));
    expect(stdout).toMatch(/^default +vllm +- +no .* nothing is predicted yet|^default +vllm .* no requests yet/m);
    const shadows = await captured(command!.replace('explain first', 'shadow list'));
    expect(shadows.stdout).toMatch(
      /^endpoint default\/default, policy unified\n.*\nlmetric +lmetric .* configuration\n/,
    );
    const usage = async () => (await captured(command!.replace('explain first', 'keys usage --by key'))).stdout;
    const namesIn = (text: string) => ['web', 'batch', 'trial'].filter((name) => text.includes(name));
    while (namesIn(await usage()).length < 3) await pause(50);
    await demo.says(/ {2}(\S+\/#login=login_[\w-]+&tour)\n/);
    const [replicas] = await demo.says(/curl (\S+\/api\/v1\/replicas) /);
    demo.stop();
    expect(await demo.ended).toBe(0);
    await expect(fetch(url!)).rejects.toThrow();
    await expect(fetch(replicas!)).rejects.toThrow();
    await until(() => !process.getActiveResourcesInfo().some((kind) => kind.startsWith('TCPServer')));
  });

  test('uses free ports when its own are in use, and does not hang when it cannot listen', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    const demo = started(['demo', '--port', String(port), '--replicas', '1']);
    const [url] = await demo.says(/behind (\S+)\. /);
    expect(url).not.toContain(`:${port}`);
    demo.stop();
    expect(await demo.ended).toBe(0);
    holder.close();
    expect(await captured('demo --model none/such')).toMatchObject({ code: 2 });
    expect(await captured('demo --port 65535')).toMatchObject({ code: 2, stderr: expect.stringContaining('--port') });
  });
});
