import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { allProcesses } from '../src/control/runner/local/process/process-table.js';
import { profileText } from '../src/replica/latency/profile-file.js';
import { PROFILE, recordingOf, served } from '../src/twin/whatif/recorded-run.fixture.js';
import { CLI } from './support/cli.js';
import { FixedPort } from './support/fixed-port.js';
import { afterwards } from './support/gateway-fixture.js';
import { type ServeProcess, serveProcess } from './support/serve-process.js';

vi.setConfig({ testTimeout: 900_000 });

const MODEL = 'qwen/qwen3-14b';
const GUARDED = 50;

// biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
type Body = any;

async function until<Found>(look: () => Promise<Found | undefined | false>): Promise<Found> {
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined && found !== false) return found;
    await pause(50);
  }
}

/** An emulated engine in a process of its own. */
async function engineUrl(): Promise<string> {
  const args = ['engine', '--model', MODEL, '--served-model-name', 'tiny', '--port', '0', '--speed', '20'];
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  afterwards(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  for await (const line of createInterface({ input: child.stderr })) {
    const url = /on (http:\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('the engine did not start');
}

/** A gateway that is killed and started again at the same addresses, and what a client does with it. */
class KilledGateway {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-switch-killed-')));
  readonly #args: readonly string[];
  readonly #one: string;
  #serving: ServeProcess | null = null;
  #adminPort: string | null = null;
  #key = '';

  constructor(endpoint: string, args: readonly string[]) {
    const [store, record] = ['twinyard.db', 'traffic.jsonl'].map((name) => join(this.folder, name)) as [string, string];
    this.#args = ['--data-dir', this.folder, '--store', store, '--record', record, ...args];
    this.#one = `workspaces/default/endpoints/${endpoint}`;
    afterwards(async () => {
      const replicas = async () =>
        (await allProcesses()).filter(({ folders }) => folders.some((at) => at.startsWith(this.folder)));
      for (let left = await replicas(); left.length > 0; left = await replicas()) {
        for (const { pid } of left) process.kill(pid, 'SIGKILL');
      }
      rmSync(this.folder, { recursive: true });
    });
  }

  get serving(): ServeProcess {
    return this.#serving!;
  }

  /** At the same admin address each time: a command that follows a job finds it again. */
  async start(): Promise<void> {
    this.#adminPort ??= new URL((await FixedPort.find()).url).port;
    this.#serving = await serveProcess([...this.#args, '--admin-port', this.#adminPort]);
  }

  async stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.serving.child.kill(signal);
    await this.serving.ended;
  }

  async call(method: string, path: string, body?: object): Promise<Body> {
    const { adminUrl, token } = this.serving;
    const response = await fetch(`${adminUrl}/api/v1/${path}`, {
      ...{ method, headers: { authorization: `Bearer ${token}` } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text);
  }

  one = (method: string, more = '', body?: object) => this.call(method, `${this.#one}${more}`, body);

  /** Resolves when this policy decides about requests. */
  untilPolicy = (name: string) => until(async () => (await this.one('GET', '/live')).policy.routing.policy === name);

  /** Requests that were recorded a minute ago, and the profile of the engines that served them. */
  async knowsTraffic(endpoint: string): Promise<void> {
    const run = served({ requests: 240 }, { routing: { policy: 'round-robin', options: {} } });
    const lines = recordingOf(run, { endpoint }, (Date.now() - 60_000) * 1000);
    writeFileSync(join(this.folder, 'traffic.jsonl.1'), lines);
    const [{ engine }] = await until(async () => {
      const { items } = await this.call('GET', 'profiles');
      return items.length > 0 && items;
    });
    await this.one('PUT', `/profiles/${engine}/pin`, { pinned: true, profile: JSON.parse(profileText(PROFILE)) });
  }

  /** As many as a guard needs. */
  async serve(): Promise<void> {
    if (this.#key === '') {
      const path = 'workspaces/default/apikeys';
      const document = { apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name: 'load' }, spec: {} };
      await this.call('POST', path, document);
      this.#key = (await this.call('POST', `${path}/load/issue`)).key;
    }
    const body = JSON.stringify({ model: 'tiny', messages: [{ role: 'user', content: 'hello' }], max_tokens: 4 });
    const headers = { authorization: `Bearer ${this.#key}` };
    for (let ok = 0; ok < GUARDED; ) {
      const response = await fetch(`${this.serving.url}/v1/chat/completions`, { method: 'POST', headers, body });
      await response.text();
      if (response.ok) ok++;
      else await pause(50);
    }
  }

  /** `advise --apply` in a process of its own. */
  advise(): { child: ChildProcess; ended: Promise<{ code: number; stderr: string }> } {
    const { adminUrl, token } = this.serving;
    const question = ['--endpoint', this.#one.split('/').at(-1)!, '--policies', 'lmetric', '--metric', 'ttft-mean'];
    const apply = ['--runs', '5', '--apply', '--guard', 'errors:+100%', '--watch', '1h'];
    const args = [CLI, 'advise', '--gateway', adminUrl, '--token', token, ...question, ...apply];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (piece) => {
      stderr += piece;
    });
    const ended = once(child, 'close').then(([code]) => ({ code: code as number, stderr }));
    return { child, ended };
  }
}

/** Kills the gateway in the middle of `advise --apply`, then stops it in the middle of a switch by the API. */
async function goesBack(gateway: KilledGateway, endpoint: string): Promise<void> {
  await gateway.serve();
  const { ended } = gateway.advise();
  await gateway.untilPolicy('lmetric');
  expect((await gateway.one('GET')).status.switch).toMatchObject({ state: 'watching', policy: 'lmetric' });
  await gateway.stop('SIGKILL');
  await gateway.start();
  const { code, stderr } = await ended;
  expect([code, stderr.trim().split('\n').at(-1)]).toEqual([
    1,
    `twinyard: the gateway was restarted while the switch of default/${endpoint} was watched: its policy is round-robin again`,
  ]);
  await gateway.untilPolicy('round-robin');
  expect((await gateway.one('GET')).status.switch).toMatchObject({
    ...{ state: 'interrupted', policy: 'lmetric', former: 'round-robin', metric: 'errors', most: 1 },
    reason: 'the gateway stopped while it was watched: the former policy is in force again',
  });

  await gateway.serve();
  const guard = { metric: 'errors', most: 1 };
  await gateway.one('POST', '/policy/switch', { policy: { policy: 'lmetric' }, guard, watch: '1h' });
  await gateway.untilPolicy('lmetric');
  await gateway.stop('SIGTERM');
  await gateway.start();
  await gateway.untilPolicy('round-robin');
  expect((await gateway.one('GET')).status.switch).toMatchObject({ state: 'cancelled', policy: 'lmetric' });
  await gateway.serve();
}

test('an endpoint of the configuration file has its policy again after a gateway was killed in a switch, and its status says so', async () => {
  const engines = await Promise.all([engineUrl(), engineUrl()]);
  const replicas = engines.flatMap((url) => ['--replica', url]);
  const gateway = new KilledGateway('default', [...replicas, '--routing-policy', 'round-robin']);
  await gateway.start();
  await gateway.knowsTraffic('default');
  await goesBack(gateway, 'default');
});

test('a declared endpoint has its policy again after a gateway was killed in a switch, and its status and events say so', async () => {
  const gateway = new KilledGateway('chat', []);
  await gateway.start();
  const spec = {
    ...{ engine: { name: 'emulator' }, model: { name: MODEL, serve_as: 'tiny' }, replicas: 2 },
    ...{ routing: { policy: 'round-robin' }, variables: { speed: 20 } },
  };
  const { metadata: before } = await gateway.one('PUT', '', {
    ...{ apiVersion: 'twinyard/v1', kind: 'Endpoint', metadata: { name: 'chat', labels: { team: 'search' } }, spec },
  });
  await gateway.serve();
  await gateway.knowsTraffic('default/chat');
  await goesBack(gateway, 'chat');
  const { metadata, spec: after } = await gateway.one('GET');
  expect([metadata.labels, after.routing.policy]).toEqual([before.labels, 'round-robin']);
  const { items } = await gateway.call('GET', 'events?workspace=default&limit=100');
  expect(items.filter(({ reason }: Body) => reason === 'PolicyRestored')).toHaveLength(1);
});
