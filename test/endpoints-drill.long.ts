import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { allProcesses } from '../src/control/runner/local/process/process-table.js';
import { DrillClients, type DrillEnd } from './support/drill-clients.js';
import type { ShownEndpoint } from './support/endpoint-yard.js';
import { FixedPort } from './support/fixed-port.js';
import { afterwards } from './support/gateway-fixture.js';
import { KeptSocket, type Serving } from './support/kept-socket.js';

const PATH = 'workspaces/default/endpoints/chat';
const CLIENTS = 24;
const KILLS = 10;

/** A server with one endpoint, on a port that stays the same over restarts. */
class Drill {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-drill-')));
  #admin = { url: '', token: '' };
  #server!: Serving;

  constructor(private readonly port: KeptSocket | FixedPort) {
    afterwards(async () => {
      for (let left = await this.replicas(); left.length > 0; left = await this.replicas()) {
        for (const { pid } of left) kill(pid);
      }
      rmSync(this.#folder, { recursive: true });
    });
  }

  async start(): Promise<void> {
    this.#server = await this.port.serve(['--data-dir', this.#folder]);
    const [, url, path] = /admin on (\S+), token in (.+)/.exec(this.#server.said.join('\n'))!;
    this.#admin = { url: url!, token: readFileSync(path!, 'utf8').trim() };
  }

  /** From when a process is killed until it is known to have ended. */
  readonly #kills: { readonly from: number; readonly to: number }[] = [];

  async killServer(): Promise<void> {
    const from = performance.now();
    this.#server.child.kill('SIGKILL');
    await this.#server.ended;
    this.#kills.push({ from, to: performance.now() });
  }

  /** Whether a request was under way while a process ended. */
  metKill({ endedAt, sentAt }: DrillEnd): boolean {
    return this.#kills.some(({ from, to }) => sentAt <= to && endedAt >= from);
  }

  /** Processes of replicas. */
  async replicas(): Promise<{ readonly pid: number; readonly id: string }[]> {
    const found: { pid: number; id: string }[] = [];
    for (const { folders, pid } of await allProcesses()) {
      const folder = folders.find((one) => one.startsWith(this.#folder));
      if (folder !== undefined) found.push({ pid, id: basename(folder) });
    }
    return found;
  }

  /** Kills a replica that is in the middle of at least two streams, and returns its id. */
  async killStreaming(clients: DrillClients): Promise<string> {
    for (;;) {
      const busy = (await this.replicas()).find(({ id }) => clients.streaming(id) >= 2);
      if (busy !== undefined) {
        kill(busy.pid);
        return busy.id;
      }
      await pause(20);
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
    const body = {
      apiVersion: 'twinyard/v1',
      kind: 'Endpoint',
      metadata: { name: 'chat' },
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
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone meanwhile.
  }
}

test('changes, a killed replica and a deletion under load: no request fails but streams of the killed replica, each told', async () => {
  const socket = new KeptSocket();
  const drill = new Drill(socket);
  await drill.start();
  await drill.declare(3, 1);
  const clients = new DrillClients(socket.url, CLIENTS);
  await clients.untilMore(50);
  await drill.declare(5, 1);
  await clients.untilMore(50);
  await drill.declare(5, 2);
  await clients.untilMore(50);
  const killed = await drill.killStreaming(clients);
  await drill.settled(5);
  await clients.untilMore(100);
  await drill.declare(1, 2);
  await clients.untilMore(50);
  // Requests under way are finished before the last replica is stopped; one that arrives after the deletion has no endpoint.
  await clients.untilBegun();
  const rest = clients.rest();
  await drill.call('DELETE');
  await rest;
  while ((await drill.call('GET')).status !== 404) await pause(50);
  console.log(`changes: ${JSON.stringify(clients.counts)}`);
  const { complete, told, ...others } = clients.counts;
  expect(others).toEqual({});
  expect(complete).toBeGreaterThanOrEqual(300);
  // At least the two that were under way.
  expect(told).toBeGreaterThanOrEqual(2);
  expect(clients.ends.filter(({ end, replica }) => end === 'told' && replica !== killed)).toEqual([]);
  expect(await drill.replicas()).toEqual([]);
}, 600_000);

const PORTS = [
  { what: 'a socket that outlives it', open: async () => new KeptSocket(), refuses: false },
  { what: 'a port of its own', open: () => FixedPort.find(), refuses: true },
];

test.for(PORTS)(
  'a control plane with $what, killed at random moments, breaks connections and fails no request',
  {
    timeout: 600_000,
  },
  async ({ open, refuses, what }) => {
    const port = await open();
    const drill = new Drill(port);
    await drill.start();
    await drill.declare(3, 1);
    const clients = new DrillClients(port.url, CLIENTS);
    let random = 1;
    for (let kills = 0; kills < KILLS; kills++) {
      random = (random * 48_271) % 0x7fffffff;
      await pause(random % 1500);
      await drill.killServer();
      await drill.start();
    }
    await drill.settled(3);
    await clients.untilMore(50);
    await clients.rest();
    console.log(`kills, ${what}: ${JSON.stringify(clients.counts)}`);
    const { broken = 0, complete, refused = 0, ...others } = clients.counts;
    expect(others).toEqual({});
    expect(clients.ends.filter((one) => one.end === 'broken' && !drill.metKill(one))).toEqual([]);
    // A port is closed after the connections of its process: a client can meet the same kill twice, where the port has no other owner.
    if (!refuses) expect([refused, Math.max(broken, KILLS * CLIENTS)]).toEqual([0, KILLS * CLIENTS]);
  },
);
