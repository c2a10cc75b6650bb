import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { CLI } from './cli.js';
import { type Serving, untilServing } from './kept-socket.js';

/** Below the ports that the system gives to clients, one of which could take it while no server runs. */
const [FIRST, COUNT] = [32_000, 700];

/** A port that each server opens itself: while none runs, connections are refused. */
export class FixedPort {
  readonly url: string;

  private constructor(private readonly port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  /** A port that is free now. */
  static async find(): Promise<FixedPort> {
    for (let i = process.pid % COUNT; ; i = (i + 1) % COUNT) {
      const server = createServer();
      const isFree = Promise.race([
        once(server, 'listening').then(() => true),
        once(server, 'error').then(() => false),
      ]).catch(() => false);
      server.listen(FIRST + i, '127.0.0.1');
      if (!(await isFree)) continue;
      server.close();
      await once(server, 'close');
      return new FixedPort(FIRST + i);
    }
  }

  /** Starts `twinyard serve` on the port; resolves when it is ready. */
  serve(args: readonly string[]): Promise<Serving> {
    const command = [CLI, 'serve', '--port', String(this.port), '--admin-port', '0', ...args];
    return untilServing(spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] }));
  }
}
