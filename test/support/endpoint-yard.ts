import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Status } from '../../src/control/resources/resource.js';
import { allProcesses } from '../../src/control/runner/local/process/process-table.js';
import { afterwards } from './gateway-fixture.js';
import { type ServeProcess, serveProcess } from './serve-process.js';

/** An endpoint of emulated engines as a file would declare it. */
export interface DeclaredEndpoint {
  replicas: number;
  /** A variable of its engine: another value is another revision. */
  seed: number;
}

interface ShownReplica {
  readonly id: string;
  readonly phase: string;
}

export interface ShownStatus extends Status {
  readonly ready: number;
  readonly replicas: readonly ShownReplica[];
}

export interface ShownEndpoint {
  readonly metadata: { readonly generation: number };
  readonly status?: ShownStatus;
}

/** Whether an endpoint of this generation runs, with no replica left to remove. */
export function isSettled(generation: number, { observed_generation, phase, replicas }: ShownStatus): boolean {
  return phase === 'Running' && observed_generation === generation && replicas.every((one) => one.phase === 'ready');
}

const PACE_MS = 20;
const PATH = '/api/v1/workspaces/default/endpoints/chat';

/** `twinyard serve` with a store, used through its API; everything it starts is stopped after the test. */
export class EndpointYard {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-endpoints-')));
  readonly #replicas = join(this.folder, 'data', 'runner', 'local', 'replicas');
  readonly #config = join(this.folder, 'twinyard.yaml');
  serve!: ServeProcess;

  constructor() {
    writeFileSync(this.#config, 'store: yard.db\ndata_dir: data\naccess: { keys: off }\n');
    afterwards(async () => {
      for (let left = await this.processes(); left.length > 0; left = await this.processes()) {
        for (const { pid } of left) kill(pid);
      }
      rmSync(this.folder, { recursive: true });
    });
  }

  /** @param more further flags of `serve` */
  async start(...more: readonly string[]): Promise<void> {
    this.serve = await serveProcess(['-c', this.#config, ...more]);
  }

  /** Kills the control plane at any point. */
  async killServe(): Promise<void> {
    this.serve.child.kill('SIGKILL');
    await this.serve.ended;
  }

  /** Processes of replicas, by the replica. */
  async processes(): Promise<{ readonly pid: number; readonly replica: string }[]> {
    const found: { pid: number; replica: string }[] = [];
    for (const { folders, pid } of await allProcesses()) {
      const folder = folders.find((one) => dirname(one) === this.#replicas);
      if (folder !== undefined) found.push({ pid, replica: basename(folder) });
    }
    return found;
  }

  async killReplica(id: string): Promise<void> {
    for (const { pid, replica } of await this.processes()) if (replica === id) kill(pid);
  }

  async declare({ replicas, seed }: DeclaredEndpoint): Promise<number> {
    const body = JSON.stringify({
      apiVersion: 'twinyard/v1',
      kind: 'Endpoint',
      metadata: { name: 'chat' },
      spec: {
        engine: { name: 'emulator' },
        model: { name: 'qwen/qwen3-14b', serve_as: 'tiny' },
        replicas,
        variables: { seed },
      },
    });
    const response = await this.#call('PUT', body);
    if (!response.ok) throw new Error(await response.text());
    return ((await response.json()) as ShownEndpoint).metadata.generation;
  }

  async delete(): Promise<void> {
    await this.#call('DELETE');
  }

  /** Null when it is gone. */
  async endpoint(): Promise<ShownEndpoint | null> {
    const response = await this.#call('GET');
    return response.status === 404 ? null : ((await response.json()) as ShownEndpoint);
  }

  /** Resolves with its replicas when it is settled. */
  async untilRunning(generation: number): Promise<string[]> {
    for (;;) {
      const { status } = (await this.endpoint()) ?? {};
      if (status !== undefined && isSettled(generation, status)) return status.replicas.map(({ id }) => id);
      if (status?.phase === 'Failed') throw new Error(JSON.stringify(status));
      await pause(PACE_MS);
    }
  }

  async untilGone(): Promise<void> {
    while ((await this.endpoint()) !== null) await pause(PACE_MS);
  }

  #call(method: string, body?: string): Promise<Response> {
    const headers = { authorization: `Bearer ${this.serve.token}` };
    const init = body === undefined ? { method, headers } : { method, headers, body };
    return fetch(`${this.serve.adminUrl}${PATH}`, init);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone meanwhile.
  }
}
