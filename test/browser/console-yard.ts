import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { allProcesses } from '../../src/control/runner/local/process/process-table.js';
import { freePort } from '../../src/kernel/free-port.fixture.js';
import { profileText } from '../../src/replica/latency/profile-file.js';
import { PROFILE, recordingOf, served } from '../../src/twin/whatif/recorded-run.fixture.js';
import { CLI } from '../support/cli.js';

const TOKEN = 'token-of-the-tests-of-the-console';

/**
 * `twinyard serve` with a control plane, shared by all journeys of a file. Its configuration file has the endpoint `fixed`, whose
 * engines are not there.
 */
export class ConsoleYard {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-browser-')));
  readonly token = TOKEN;
  url = '';
  adminUrl = '';
  /** Before it lies what `record` wrote, after it what the gateway records itself. */
  recordedTo = '';
  /** The secret of an API key without limits, which `chat` uses. */
  key = '';
  #child: ChildProcess | null = null;
  #adminPort = 0;

  async start(): Promise<void> {
    // It comes back to the address that the browser has open.
    if (this.#adminPort === 0) this.#adminPort = await freePort();
    const config = join(this.folder, 'twinyard.yaml');
    const replicas = ['a', 'b'].map((id) => `{ id: ${id}, url: "http://127.0.0.1:1" }`);
    const endpoints = `endpoints: [{ name: fixed, replicas: [${replicas}] }]`;
    writeFileSync(config, `store: yard.db\ndata_dir: .\nrecord: traffic.jsonl\n${endpoints}\n`);
    writeFileSync(join(this.folder, 'admin-token'), `${TOKEN}\n`, { mode: 0o600 });
    const args = [CLI, 'serve', '-c', config, '--port', '0', '--admin-port', String(this.#adminPort)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    let text = '';
    for await (const line of createInterface({ input: child.stderr })) {
      text += `${line}\n`;
      if (line.includes('admin on')) break;
    }
    child.stderr.resume();
    const [, url] = /serving on (\S+),/.exec(text) ?? [];
    const [, adminUrl] = /admin on (\S+),/.exec(text) ?? [];
    if (url === undefined || adminUrl === undefined) throw new Error(`did not start: ${text}`);
    Object.assign(this, { url, adminUrl });
    if (this.key === '') this.key = await this.issue('load', {});
  }

  /** Creates an API key and returns its secret. */
  async issue(name: string, spec: object, workspace = 'default'): Promise<string> {
    const path = `workspaces/${workspace}/apikeys`;
    await this.call('POST', path, { apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name }, spec });
    return (await this.call('POST', `${path}/${name}/issue`)).key;
  }

  /** Traffic of an endpoint that the gateway recorded a minute ago, in a file that it has rotated since. */
  record(endpoint: string): void {
    const run = served({ requests: 240 }, { routing: { policy: 'round-robin', options: {} } });
    const lines = recordingOf(run, { endpoint: `default/${endpoint}` }, (Date.now() - 60_000) * 1000);
    writeFileSync(join(this.folder, 'traffic.jsonl.1'), lines);
    this.recordedTo = new Date().toISOString();
  }

  /** Gives an endpoint the profile of the engines in that recording: fitting one takes seconds. */
  async pinProfile(endpoint: string): Promise<void> {
    const [{ engine }] = (await this.call('GET', `profiles?endpoint=${endpoint}`)).items;
    const path = `workspaces/default/endpoints/${endpoint}/profiles/${engine}/pin`;
    await this.call('PUT', path, { pinned: true, profile: JSON.parse(profileText(PROFILE)) });
  }

  /** Kills the gateway; its replicas keep running. */
  async kill(): Promise<void> {
    if (this.#child === null || this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  // biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
  async call(method: string, path: string, body?: object): Promise<any> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(`${this.adminUrl}/api/v1/${path}`, init);
    return response.json();
  }

  /** Creates a resource of a workspace. @param plural of its kind */
  async create(
    plural: string,
    kind: string,
    metadata: { name: string; workspace?: string },
    spec: object,
  ): Promise<void> {
    const place = metadata.workspace === undefined ? plural : `workspaces/${metadata.workspace}/${plural}`;
    await this.call('POST', place, { apiVersion: 'twinyard/v1', kind, metadata, spec });
  }

  async declare(name: string, replicas: number, servedAs = 'tiny'): Promise<void> {
    const spec = {
      engine: { name: 'emulator' },
      model: { name: 'qwen/qwen3-14b', serve_as: servedAs },
      replicas,
      variables: { speed: 20 },
    };
    await this.call('PUT', `workspaces/default/endpoints/${name}`, {
      ...{ apiVersion: 'twinyard/v1', kind: 'Endpoint', metadata: { name }, spec },
    });
  }

  /** Resolves when this many replicas of an endpoint are ready. */
  async untilReady(name: string, count: number): Promise<void> {
    for (;;) {
      const { items = [] } = await this.call('GET', `workspaces/default/endpoints/${name}/replicas`);
      if (items.filter(({ state }: { state: string }) => state === 'ready').length === count) return;
      await pause(50);
    }
  }

  async chat(id: string): Promise<void> {
    const body = { model: 'tiny', messages: [{ role: 'user', content: 'hello' }], max_tokens: 8, stream: true };
    const headers = { 'x-request-id': id, authorization: `Bearer ${this.key}` };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    for (;;) {
      const response = await fetch(`${this.url}/v1/chat/completions`, init);
      await response.text();
      // A gateway knows a new key within a second.
      if (response.status !== 401) return;
      await pause(50);
    }
  }

  /** Sends requests until a shadow has decided about one, and returns its id: a busy gateway drops decisions of shadows first. */
  async shadowedChat(endpoint: string): Promise<string> {
    for (let i = 0; ; i++) {
      const id = `shadowed-${i}`;
      await this.chat(id);
      for (;;) {
        if ((await this.call('GET', `decisions/${id}`)).shadows?.length > 0) return id;
        const { items } = await this.call('GET', `workspaces/default/endpoints/${endpoint}/shadows`);
        if (items[0].dropped > i) break;
        await pause(50);
      }
    }
  }

  /** Lets requests fail at all replicas of an endpoint: `{ disconnect_rate: 1 }`. */
  async setFaults(endpoint: string, faults: object): Promise<void> {
    const { items } = await this.call('GET', `workspaces/default/endpoints/${endpoint}/replicas`);
    for (const { url } of items) await fetch(`${url}/admin/faults`, { method: 'POST', body: JSON.stringify(faults) });
  }

  async killReplica(id: string): Promise<void> {
    for (const { folders, pid } of await allProcesses()) {
      if (folders.some((one) => one.startsWith(this.folder) && one.endsWith(`/${id}`))) process.kill(pid, 'SIGKILL');
    }
  }

  async close(): Promise<void> {
    await this.kill();
    const replicas = join(this.folder, 'runner', 'local', 'replicas');
    for (;;) {
      const left = (await allProcesses()).filter(({ folders }) => folders.some((one) => dirname(one) === replicas));
      if (left.length === 0) break;
      for (const { pid } of left) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // Gone meanwhile.
        }
      }
    }
    rmSync(this.folder, { recursive: true });
  }
}
