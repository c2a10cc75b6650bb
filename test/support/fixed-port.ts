import { spawn } from 'node:child_process';
import { freePort } from '../../src/kernel/free-port.fixture.js';
import { CLI } from './cli.js';
import { type Serving, untilServing } from './kept-socket.js';

/** A port that each server opens itself: while none runs, connections are refused. */
export class FixedPort {
  readonly url: string;

  private constructor(private readonly port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  static async find(): Promise<FixedPort> {
    return new FixedPort(await freePort());
  }

  /** Starts `twinyard serve` on the port; resolves when it is ready. */
  serve(args: readonly string[]): Promise<Serving> {
    const command = [CLI, 'serve', '--port', String(this.port), '--admin-port', '0', ...args];
    return untilServing(spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] }));
  }
}
