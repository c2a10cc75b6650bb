import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { inTestFolder, silent } from '../src/cli/test-folder.fixture.js';
import { captured } from '../src/cli/test-io.fixture.js';
import { CLI } from './support/cli.js';

inTestFolder(() => {});

/** A server that was killed before it could delete its admin.json. */
async function killedServer(): Promise<{ url: string }> {
  const server = spawn(process.execPath, [CLI, 'serve', '--port', '0', '--admin-port', '0']);
  for await (const line of createInterface(server.stderr)) if (line.includes('admin on ')) break;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
  return JSON.parse(readFileSync(join('.twinyard', 'admin.json'), 'utf8'));
}

test('after a server was killed, keys uses its store, and other commands say that it is not running', async () => {
  const { url } = await killedServer();
  const left = 'the gateway recorded in .twinyard/admin.json is not running';

  expect(await captured('keys create --name web')).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^ty_[\w-]+\n$/),
    stderr: expect.stringContaining(`twinyard: ${left}: using the store itself\n`),
  });
  expect(existsSync('twinyard.db')).toBe(false);
  expect((await captured('keys list')).stdout).toContain('web');
  expect(await silent('keys list --store .twinyard/twinyard.db')).toContain('web');

  for (const command of ['get endpoints', 'explain first', 'keys list --data-dir .twinyard']) {
    expect(await captured(command)).toEqual({
      code: 1,
      stdout: '',
      stderr: `twinyard: ${url}: connection refused; ${left}: start 'twinyard serve', or give --server and --token\n`,
    });
  }
});
