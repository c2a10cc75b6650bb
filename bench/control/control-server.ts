import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const WATCHED = new URL('./watched-turns.js', import.meta.url).href;
const POLL_MS = 5;

export const WORKSPACE = JSON.stringify({ apiVersion: 'twinyard/v1', kind: 'Workspace', metadata: { name: 'x' } });

/** `twinyard serve` with a control plane, in a process of its own. */
export class ControlServer {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
    readonly admin: string,
    readonly token: string,
  ) {}

  /** Resolves when the API accepts changes. @param port of clients; 0 for a free one @param more flags */
  static async start(
    folder: string,
    store: string | null,
    port = 0,
    more: readonly string[] = [],
  ): Promise<ControlServer> {
    const told = join(folder, 'admin.json');
    rmSync(told, { force: true });
    const given = [
      '--data-dir',
      folder,
      '--port',
      String(port),
      '--admin-port',
      '0',
      ...(store === null ? [] : ['--store', store]),
      ...more,
    ];
    const execArgv = ['--expose-gc', '--import', WATCHED];
    const child = fork(CLI, ['serve', ...given], { execArgv, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    let printed = '';
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (bytes) => (printed += bytes));
    const found = () => /serving on http:\/\/[^:]+:(\d+)/.exec(printed)?.[1];
    while (!existsSync(told) || found() === undefined) {
      if (child.exitCode !== null) throw new Error(`the server has ended: ${printed}`);
      await sleep(POLL_MS);
    }
    const { token, url } = JSON.parse(readFileSync(told, 'utf8')) as { token: string; url: string };
    const server = new ControlServer(child, Number(found()), url, token);
    await server.call('POST', '/api/v1/apply?dry_run=true', WORKSPACE);
    return server;
  }

  /** Throws unless the response is a success. */
  async call(method: string, path: string, body: string | null = null): Promise<string> {
    const response = await this.send(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
    return text;
  }

  send(method: string, path: string, body: string | null = null): Promise<Response> {
    return fetch(`${this.admin}${path}`, { method, body, headers: { authorization: `Bearer ${this.token}` } });
  }

  get pid(): number {
    return this.child.pid!;
  }

  async memory(): Promise<number> {
    return (await this.#reply('memory')) as number;
  }

  /** The processor time of the longest turn of its event loop during some work. */
  async longestTurn(work: () => Promise<unknown>): Promise<number> {
    await this.#reply('watch');
    await work();
    return (await this.#reply('turn')) as number;
  }

  /** Replicas keep running. */
  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }

  async #reply(message: string): Promise<unknown> {
    this.child.send(message);
    return (await once(this.child, 'message'))[0];
  }
}
