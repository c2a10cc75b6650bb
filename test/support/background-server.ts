import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { sep } from 'node:path';
import { createInterface } from 'node:readline';
import { allProcesses } from '../../src/control/runner/local/process/process-table.js';
import { CLI } from './cli.js';

/** `twinyard serve` in its own process, for a page whose other commands use it. */
export class BackgroundServer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  /** Resolves when it accepts requests. It uses free ports: those of the page may be in use on this machine. */
  static async start(folder: string, args: readonly string[]): Promise<BackgroundServer> {
    const child = spawn(process.execPath, [CLI, ...args, '--port', '0', '--admin-port', '0'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stderr })) {
      said.push(line);
      if (line.includes('admin on')) {
        child.stderr.resume();
        return new BackgroundServer(child, folder);
      }
    }
    throw new Error(`'twinyard ${args.join(' ')}' did not start: ${said.join('\n')}`);
  }

  /** Ends it, and replicas that the page has left behind: they would outlive it. */
  async end(): Promise<void> {
    const ended = once(this.child, 'exit');
    if (this.child.exitCode === null && this.child.kill('SIGTERM')) await ended;
    for (const { folders, pid } of await allProcesses()) {
      if (folders.some((one) => one.startsWith(this.folder + sep))) process.kill(pid, 'SIGKILL');
    }
  }
}
