import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { allProcesses } from '../src/control/runner/local/process/process-table.js';
import type { ShownEndpoint } from './support/endpoint-yard.js';
import { afterwards } from './support/gateway-fixture.js';
import { KeptSocket } from './support/kept-socket.js';

const PATH = 'workspaces/default/endpoints/chat';
const CLIENTS = 8;

/** A server on a port that outlives it, with one endpoint, and clients that count how their requests end. */
class Drill {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-drill-')));
  readonly #socket = new KeptSocket();
  #admin = { url: '', token: '' };
  #server!: Awaited<ReturnType<KeptSocket['serve']>>;
  #isOver = false;
  /** `complete`; `told`: a stream that ends with an error event; `broken` or `refused`: a connection; else the status. */
  readonly ends = new Map<string, number>();
  #clients: Promise<void>[] = [];

  constructor() {
    afterwards(async () => {
      for (let left = await this.replicas(); left.length > 0; left = await this.replicas()) this.#kill(left);
      rmSync(this.#folder, { recursive: true });
    });
  }

  async start(): Promise<void> {
    this.#server = await this.#socket.serve(['--data-dir', this.#folder]);
    const [, url, path] = /admin on (\S+), token in (.+)/.exec(this.#server.said.join('\n'))!;
    this.#admin = { url: url!, token: readFileSync(path!, 'utf8').trim() };
  }

  async killServer(): Promise<void> {
    this.#server.child.kill('SIGKILL');
    await this.#server.ended;
  }

  async replicas(): Promise<number[]> {
    const all = await allProcesses();
    return all.filter(({ folders }) => folders.some((one) => one.startsWith(this.#folder))).map(({ pid }) => pid);
  }

  async killReplica(): Promise<void> {
    this.#kill((await this.replicas()).slice(0, 1));
  }

  #kill(pids: readonly number[]): void {
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone meanwhile.
      }
    }
  }

  async call(method: string, body?: object): Promise<Response> {
    return fetch(`${this.#admin.url}/api/v1/${PATH}`, {
      ...{ method, headers: { authorization: `Bearer ${this.#admin.token}` } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async declare(replicas: number, seed: number): Promise<void> {
    const spec = { engine: { name: 'emulator' }, model: { name: 'qwen/qwen3-14b', serve_as: 'tiny' } };
    const metadata = { name: 'chat' };
    const body = {
      apiVersion: 'twinyard/v1',
      kind: 'Endpoint',
      metadata,
      spec: { ...spec, replicas, variables: { seed } },
    };
    const response = await this.call('PUT', body);
    expect(response.status, await response.text()).toBeLessThan(300);
    await this.settled(replicas);
  }

  async settled(replicas: number): Promise<void> {
    for (;;) {
      const { metadata, status } = (await (await this.call('GET')).json()) as ShownEndpoint;
      const isCurrent = status?.observed_generation === metadata.generation && status.replicas.length === replicas;
      if (isCurrent && status.phase === 'Running' && (await this.replicas()).length === replicas) return;
      await pause(50);
    }
  }

  load(): void {
    this.#clients = Array.from({ length: CLIENTS }, (_, i) => this.#client(i));
  }

  async rest(): Promise<Record<string, number>> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    return Object.fromEntries(this.ends);
  }

  async #client(number: number): Promise<void> {
    for (let i = number; !this.#isOver; i++) {
      const end = await this.#ask(i % 2 === 0);
      this.ends.set(end, (this.ends.get(end) ?? 0) + 1);
    }
  }

  async #ask(stream: boolean): Promise<string> {
    const messages = [{ role: 'user', content: 'Count to forty.' }];
    const body = JSON.stringify({ model: 'tiny', messages, max_tokens: 40, stream });
    try {
      const response = await fetch(`${this.#socket.url}/v1/chat/completions`, { method: 'POST', body });
      const text = await response.text();
      if (response.status !== 200) return `${response.status} ${text}`;
      if (!stream || text.includes('[DONE]')) return 'complete';
      return text.includes('"error"') ? 'told' : 'untold';
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as { code?: string };
      return code === 'ECONNREFUSED' ? 'refused' : 'broken';
    }
  }
}

test('changes, a killed replica and a deletion under load: no request fails but streams of the killed replica, each told', async () => {
  const drill = new Drill();
  await drill.start();
  await drill.declare(3, 1);
  drill.load();
  await drill.declare(5, 1);
  await drill.declare(5, 2);
  await drill.killReplica();
  await drill.settled(5);
  await drill.declare(1, 2);
  // Requests under way are finished before the replicas are stopped.
  const ends = drill.rest();
  await drill.call('DELETE');
  const { complete, told = 0, ...rest } = await ends;
  while ((await drill.call('GET')).status !== 404) await pause(50);
  console.log(`drill: ${complete} complete, ${told} streams cut and told, others ${JSON.stringify(rest)}`);
  expect([rest, await drill.replicas()]).toEqual([{}, []]);
}, 600_000);

test('a control plane that is killed at random moments breaks connections, and no other request', async () => {
  const drill = new Drill();
  await drill.start();
  await drill.declare(3, 1);
  drill.load();
  let random = 1;
  for (let kills = 0; kills < 10; kills++) {
    random = (random * 48_271) % 0x7fffffff;
    await pause(random % 1500);
    await drill.killServer();
    await drill.start();
  }
  await drill.settled(3);
  const { broken = 0, complete, ...rest } = await drill.rest();
  console.log(`kills: ${complete} complete, ${broken} connections broken, others ${JSON.stringify(rest)}`);
  expect(rest).toEqual({});
}, 600_000);
