import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fakeServer, sendStream, stream } from '../src/observe/drive/fake-server.fixture.js';
import { CLI } from './support/cli.js';

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends an observation and keeps what was measured', async (signal) => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-observe-'));
  // With one user, two requests have completed when the third arrives.
  const server = await fakeServer((request, response, n) => {
    if (n < 2) sendStream(response, stream(request));
    else child.kill(signal);
  });
  const plan = ['--concurrency', '1', '--num-requests', '50', '--prompt-tokens', '20', '--trace-output', 'seen'];
  const child = spawn(process.execPath, [CLI, 'observe', '--server-url', server.url, '--model', 'tiny', ...plan], {
    cwd: folder,
  });
  let printed = '';
  child.stdout.on('data', (text) => {
    printed += text;
  });
  const [code] = await once(child, 'close');
  expect(code).toBe(1);
  const { partial, requests } = JSON.parse(printed);
  expect(partial).toBe('it was broken off after 3 of 50 requests');
  expect(requests).toMatchObject({ completed: 2, problems: { interrupted: 1 } });
  expect(readdirSync(folder).sort()).toEqual(['seen.csv', 'seen.yaml']);
  expect(readFileSync(join(folder, 'seen.yaml'), 'utf8')).toContain(`partial: "${partial}"`);
  expect(readFileSync(join(folder, 'seen.csv'), 'utf8').trim().split('\n').length).toBe(4);
  rmSync(folder, { recursive: true });
});
