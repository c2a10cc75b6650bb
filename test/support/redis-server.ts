import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/kernel/free-port.fixture.js';

/** Whether the real server is installed; tests that need it are skipped otherwise. */
export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;

export const NO_REDIS_LINE = 'redis-server is not installed: the tests of queues are skipped\n';

/** A real Redis on a port of its own, with its files in a folder of its own. */
export class RedisServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'twinyard-redis-'));
  #process: ChildProcess | null = null;

  private constructor(
    readonly port: number,
    readonly password: string,
    readonly tls: { cert: string; key: string } | null,
  ) {}

  /** @param tls paths of a certificate and its key: the server then speaks nothing but TLS */
  static async start(
    password = '',
    appendOnly = false,
    tls: { cert: string; key: string } | null = null,
  ): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), password, tls);
    await server.start(appendOnly);
    return server;
  }

  get url(): string {
    const scheme = this.tls === null ? 'redis' : 'rediss';
    return `${scheme}://${this.password === '' ? '' : `:${this.password}@`}127.0.0.1:${this.port}`;
  }

  async start(appendOnly: boolean): Promise<void> {
    const flags = [...this.#listen(), '--bind', '127.0.0.1', '--save', '', '--dir', this.#folder];
    const kept = ['--appendonly', appendOnly ? 'yes' : 'no', '--appendfsync', 'always'];
    const secret = this.password === '' ? [] : ['--requirepass', this.password];
    const child = spawn('redis-server', [...flags, ...kept, ...secret], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    await new Promise<void>((resolve, reject) => {
      let text = '';
      child.stdout!.on('data', (piece) => {
        text += piece;
        if (text.includes('Ready to accept connections')) resolve();
      });
      child.once('exit', () => reject(new Error(`redis-server ended: ${text}`)));
    });
  }

  #listen(): string[] {
    if (this.tls === null) return ['--port', String(this.port)];
    const { cert, key } = this.tls;
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no'];
    return ['--port', '0', '--tls-port', String(this.port), ...files];
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === null) return;
    this.#process = null;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
