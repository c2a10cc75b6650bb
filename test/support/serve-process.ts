import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { CLI } from './cli.js';
import { afterwards } from './gateway-fixture.js';

export interface ServeProcess {
  child: ChildProcess;
  url: string;
  adminUrl: string;
  token: string;
  /** Its output so far. */
  said: () => string;
  ended: Promise<unknown>;
}

/**
 * `twinyard serve` in its own process, on free ports unless they are given, ready for requests.
 * @param after called with what kills it; after the test unless given
 */
export async function serveProcess(
  args: readonly string[],
  after: (close: () => Promise<unknown>) => void = afterwards,
): Promise<ServeProcess> {
  const free = ['--port', '--admin-port'].filter((flag) => !args.includes(flag)).flatMap((flag) => [flag, '0']);
  const child = spawn(process.execPath, [CLI, 'serve', ...free, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let text = '';
  child.stdout.on('data', (piece) => {
    text += piece;
  });
  for await (const line of createInterface({ input: child.stderr })) {
    text += `${line}\n`;
    if (/admin on/.test(line)) break;
  }
  child.stderr.on('data', (piece) => {
    text += piece;
  });
  const [, url] = /serving on (\S+),/.exec(text) ?? [];
  const [, adminUrl, path, told] = /admin on (\S+), token (?:in (.+)|(\S+))/.exec(text) ?? [];
  if (url === undefined || adminUrl === undefined) throw new Error(`did not start: ${text}`);
  const token = path === undefined ? told! : readFileSync(path, 'utf8').trim();
  return { child, url, adminUrl, token, said: () => text, ended };
}
