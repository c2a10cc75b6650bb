import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as net from 'node:net';
import { createInterface } from 'node:readline';
import { CLI } from './cli.js';
import { afterwards } from './gateway-fixture.js';

/** What Node's `cluster` uses: a bound socket on which this process does not accept connections. */
interface BoundSocket {
  readonly fd: number;
  getsockname(out: { port?: number }): number;
  close(): void;
}
const { _createServerHandle: bind } = net as unknown as {
  _createServerHandle(host: string, port: number, family: 4): BoundSocket;
};

/** Passes the descriptor on as systemd does, with the process id of the server itself. */
const ACTIVATE = 'LISTEN_PID=$$ exec "$@"';

/** A port that this process keeps open over restarts of the server, as systemd's socket activation does. */
export class KeptSocket {
  readonly #socket = bind('127.0.0.1', 0, 4);

  constructor() {
    afterwards(async () => this.#socket.close());
  }

  get url(): string {
    const name: { port?: number } = {};
    this.#socket.getsockname(name);
    return `http://127.0.0.1:${name.port}`;
  }

  /** Starts `twinyard serve` on the socket; resolves when it is ready. */
  async serve(args: readonly string[]): Promise<Serving> {
    const command = [process.execPath, CLI, 'serve', '--admin-port', '0', ...args];
    const child = spawn('/bin/sh', ['-c', ACTIVATE, 'sh', ...command], {
      env: { ...process.env, LISTEN_FDS: '1' },
      stdio: ['ignore', 'ignore', 'pipe', this.#socket.fd],
    });
    return untilServing(child);
  }
}

/** A `serve` process that is ready for requests, killed after the test. */
export interface Serving {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly said: readonly string[];
}

/** Resolves when the process is ready; its stderr must be a pipe. */
export async function untilServing(child: ChildProcess): Promise<Serving> {
  const ended = once(child, 'exit');
  afterwards(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    said.push(line);
    if (line.includes('admin on')) break;
  }
  child.stderr!.resume();
  return { child, ended, said };
}
