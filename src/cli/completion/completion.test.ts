import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { captured } from '../test-io.fixture.js';

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-completion-'));
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stderr, stdout } = await captured(`completion ${shell}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    writeFileSync(join(folder, shell), stdout);
  }
  // Stands for the program: prints what it is asked.
  writeFileSync(join(folder, 'twinyard'), '#!/bin/sh\necho "$@" | tr " " "\\n"\n', { mode: 0o755 });
  writeFileSync(join(folder, 'a-trace.csv'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

const isInstalled = (shell: string) => spawnSync(shell, ['--version']).status === 0;

/** What bash offers for the last of these words, by calling the function as bash itself does. */
function offered(...words: string[]): string[] {
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const script = `source ./bash; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _twinyard; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stderr, stdout } = spawnSync('bash', ['--norc', '-c', script], { cwd: folder, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

describe('completion bash', () => {
  test.each([
    [['com'], ['compare', 'completion', 'compose']],
    [
      ['trace', 's'],
      ['stats', 'slice', 'scale'],
    ],
    [['help', 'rep'], ['replay']],
    [['run', '--routing-p'], ['--routing-policy']],
    [
      ['run', '--routing-policy', 'l'],
      ['least-loaded', 'lmetric', 'load-only', 'lpwl'],
    ],
    [
      ['run', '--latency-model', ''],
      ['trained-physics', 'roofline', 'profile'],
    ],
    [['run', '--model', 'qwen/qwen3-14'], ['qwen/qwen3-14b']],
    // As bash splits them.
    [['run', '--format', '=', 't'], ['table']],
    [
      ['run', '--format', '='],
      ['json', 'table'],
    ],
    [['run', '--routing-scorers', 'queue-depth'], ['queue-depth']],
    [['run', '--routing-scorers', 'queue-depth', ':', '2,kv-u'], ['2,kv-utilization']],
    [['compare', '--routing-policy', 'round-robin,pow'], ['round-robin,power-of-two']],
    [['replay', '--trace-data', 'a-'], ['a-trace.csv']],
    [['trace', 'stats', 'a-t'], ['a-trace.csv']],
    [['get', 'end'], ['endpoints']],
    [['get', '-o', 'w'], ['wide']],
    [['get', '-A', 'eng'], ['engines']],
    [['convert', 'syn'], ['synth']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['nonsense', ''], []],
  ])('offers for %j', (words, expected) => {
    const found = offered('twinyard', ...words);
    expect(expected.length === 0 ? found : expected.filter((word) => !found.includes(word))).toEqual([]);
    if (expected.length === 1) expect(found).toEqual(expected);
  });

  it('runs the program for the names of resources, with what was typed', () => {
    expect(offered('./twinyard', 'get', 'endpoints', '-w', 'lab', 'l')).toEqual(['lab', 'l']);
    expect(offered('./twinyard', 'describe', 'engines', 'nam')).toEqual(['names', 'nam']);
  });

  it('offers every command and subcommand', () => {
    expect(offered('twinyard', '')).toEqual(expect.arrayContaining(['run', 'serve', 'apply', 'trace', 'version']));
  });
});

test.runIf(isInstalled('zsh'))('completion zsh has no syntax errors', () => {
  expect(spawnSync('zsh', ['-n', join(folder, 'zsh')], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
});

test.runIf(isInstalled('fish'))('completion fish has no syntax errors', () => {
  expect(spawnSync('fish', ['-n', join(folder, 'fish')], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  });
});

it('refuses a shell that it does not know', async () => {
  expect(await captured('completion tcsh')).toMatchObject({ code: 2, stdout: '' });
});

describe('names of resources', () => {
  let server: Server;
  const asked: string[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request.url!);
      // A control plane that does not respond in time.
      if (request.url!.includes('slow')) return;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ items: [{ metadata: { name: 'chat' } }, { metadata: { name: 'embed' } }] }));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const names = (words: string) =>
    captured(`completion names endpoints ${words}`, {
      env: { TWINYARD_SERVER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, TWINYARD_TOKEN: 't' },
    });

  it('come from the control plane of the command line', async () => {
    expect(await names('get endpoints -w lab')).toEqual({ code: 0, stdout: 'chat\nembed\n', stderr: '' });
    expect(asked.at(-1)).toMatch(/lab/);
  });

  it('are none, silently, when it fails or is slow', async () => {
    const nothing = { code: 0, stdout: '', stderr: '' };
    expect(await names('get endpoints -w slow')).toEqual(nothing);
    expect(await names('get endpoints --server http://127.0.0.1:1')).toEqual(nothing);
    expect(await names('get endpoints --server nonsense')).toEqual(nothing);
    expect(await captured('completion names nonsense')).toEqual(nothing);
  });
});
