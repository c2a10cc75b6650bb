import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ShownStatus } from './endpoint-yard.js';
import type { RayLab } from './ray-lab.js';
import { type ServeProcess, serveProcess } from './serve-process.js';

export const CHAT = 'workspaces/default/endpoints/chat';
export const PACE_MS = 200;

interface Shown {
  readonly metadata: { readonly generation: number };
  readonly status?: ShownStatus & {
    readonly message: string;
    readonly replicas: readonly { id: string; phase: string; url: string }[];
  };
}

/** A control plane whose Cluster `machines` is a Ray cluster. */
export class RayYard {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-ray-drill-')));
  serve!: ServeProcess;

  constructor(
    readonly lab: RayLab,
    private readonly store = 'yard.db',
  ) {}

  /**
   * Another process on the same store, which need not lead.
   * @param data its own folder
   */
  join(data: string): Promise<ServeProcess> {
    const config = join(this.folder, `${data}.yaml`);
    writeFileSync(config, `store: ${this.store}\ndata_dir: ${data}\naccess: { keys: off }\n`);
    return serveProcess(['-c', config]);
  }

  /** Starts a process and resolves when it leads. */
  async start(data = 'data'): Promise<void> {
    this.serve = await this.join(data);
    const ray = { url: this.lab.url, ports: '31200-31299' };
    const cluster = { kind: 'Cluster', metadata: { name: 'machines' }, spec: { type: 'ray', ray } };
    // The lease of a control plane that was killed has to end first.
    while ((await this.call('PUT', 'clusters/machines', cluster)).status >= 300) await pause(PACE_MS);
  }

  async call(
    method: string,
    path: string,
    body?: object,
    serve = this.serve,
  ): Promise<{ status: number; text: string }> {
    const response = await fetch(`${serve.adminUrl}/api/v1/${path}`, {
      ...{ method, headers: { authorization: `Bearer ${serve.token}` } },
      ...(body === undefined ? {} : { body: JSON.stringify({ apiVersion: 'twinyard/v1', ...body }) }),
    });
    const text = await response.text();
    return { status: response.status, text };
  }

  async declare(replicas: number, seed: number, policy = 'round-robin'): Promise<void> {
    const { status, text } = await this.put(this.serve, replicas, seed, policy);
    if (status >= 300) throw new Error(text);
  }

  /** Declares the endpoint through one of the processes. */
  put(serve: ServeProcess, replicas: number, seed: number, policy = 'round-robin') {
    const model = { name: 'qwen/qwen3-14b', serve_as: 'tiny' };
    const what = { cluster: 'machines', engine: { name: 'emulator' }, model, replicas, variables: { seed } };
    const endpoint = { kind: 'Endpoint', metadata: { name: 'chat' }, spec: { ...what, routing: { policy } } };
    return this.call('PUT', CHAT, endpoint, serve);
  }

  async shown(path = CHAT): Promise<Shown> {
    return JSON.parse((await this.call('GET', path)).text) as Shown;
  }

  /** Resolves with the replicas once they are as declared. */
  async settled(replicas: number): Promise<readonly { id: string; url: string }[]> {
    for (;;) {
      const { metadata, status } = await this.shown();
      const isCurrent = status?.observed_generation === metadata.generation && status.replicas.length === replicas;
      if (isCurrent && status.phase === 'Running') return status.replicas;
      await pause(PACE_MS);
    }
  }

  /** Resolves with the first status for which it holds. */
  async until(isSo: (status: NonNullable<Shown['status']>) => boolean, path = CHAT) {
    for (;;) {
      const { status } = await this.shown(path);
      if (status !== undefined && isSo(status)) return status;
      await pause(PACE_MS);
    }
  }

  /** The replica that serves a prompt. */
  async replicaOf(prompt: string): Promise<string> {
    const response = await fetch(`${this.serve.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'tiny', max_tokens: 1, messages: [{ role: 'system', content: prompt }] }),
    });
    expect(response.status, await response.text()).toBe(200);
    return response.headers.get('x-twinyard-replica')!;
  }
}
