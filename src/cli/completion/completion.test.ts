import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  // A fake program that prints its arguments.
  writeFileSync(join(folder, 'twinyard'), '#!/bin/sh\necho "$@" | tr " " "\\n"\n', { mode: 0o755 });
  writeFileSync(join(folder, 'a-trace.csv'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

const scriptOf = (shell: string) => readFileSync(join(folder, shell), 'utf8');
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
      ['physics', 'trained-physics', 'roofline', 'profile'],
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
    [['get', '-n', 'lab', 'eng'], ['engines']],
    [['apply', '-f', 'a-'], ['a-trace.csv']],
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
    expect(offered('./twinyard', 'get', 'endpoints', '-n', 'lab', 'l')).toEqual(['lab', 'l']);
    expect(offered('./twinyard', 'describe', 'engines', 'nam')).toEqual(['names', 'nam']);
    expect(offered('./twinyard', 'keys', 'show', 'apik')).toEqual(['apikeys', 'apik']);
    expect(offered('./twinyard', 'get', '-n', 'works')).toEqual(['workspaces', 'works']);
  });

  it('offers every command and subcommand', () => {
    expect(offered('twinyard', '')).toEqual(expect.arrayContaining(['run', 'serve', 'apply', 'trace', 'version']));
  });
});

test.runIf(isInstalled('zsh'))('completion zsh has no syntax errors', () => {
  expect(spawnSync('zsh', ['-n', join(folder, 'zsh')], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
});

describe('completion zsh', () => {
  it('offers commands, policies, files and the names of resources', () => {
    const script = scriptOf('zsh');
    const part = (name: string) => script.slice(script.indexOf(`\n_twinyard_${name}() {`)).split('\n}\n')[0]!;
    expect(part('commands')).toMatch(/'help:print .*'compare:simulate /s);
    expect(part('run')).toMatch(/--routing-policy''\[[^\]]*\]:value:\(.* lmetric /);
    expect(part('run')).toMatch(/--routing-scorers''\[[^\]]*\]:value: _values -s , value .* kv-utilization /);
    expect(part('trace_stats')).toContain("'*: :_files'");
    expect(part('keys_show')).toContain("'*: :{_twinyard_names apikeys}'");
    expect(part('get')).toMatch(/\{--workspace,-n,--namespace\}'\[[^\]]*\]:value:\{_twinyard_names workspaces\}'/);
    expect(part('get')).toMatch(/'1: :\(all models .* endpoints .*'\*: :\{_twinyard_names \}'/s);
  });
});

describe('completion fish', () => {
  it('offers commands, policies, files and the names of resources', () => {
    const lines = scriptOf('fish').split('\n');
    const line = (...parts: string[]) => lines.find((one) => parts.every((part) => one.includes(part)));
    expect(line("'__twinyard_at 1'", '-a help ')).toBeDefined();
    expect(line('_is run', '-l routing-policy ')).toMatch(/ -x -a '.* lmetric /);
    expect(line('_is run', '-l routing-scorers ')).toMatch(/ -x -a '\(__fish_complete_list , .* kv-utilization /);
    expect(line('_is trace stats', "stats' -F")).toBeDefined();
    expect(line('_is keys show', "-f -a '(__twinyard_names apikeys)'")).toBeDefined();
    expect(line('_is get', '-l workspace -s n')).toMatch(/ -x -a '\(__twinyard_names workspaces\)'$/);
    expect(line('_is get', '-ge 1')).toMatch(/-a '\(__twinyard_names \(__twinyard_operands 1 .*-A.*\)\[1\]\)'$/);
  });

  it.runIf(isInstalled('fish'))('offers the same as bash', () => {
    const fish = (line: string) => {
      const script = `source ./fish; complete -C '${line}'`;
      const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { cwd: folder, encoding: 'utf8' });
      return stdout
        .trim()
        .split('\n')
        .map((one) => one.split('\t')[0]);
    };
    expect(fish('twinyard run --routing-policy l')).toContain('lmetric');
    expect(fish('twinyard run --routing-scorers queue-depth,kv-u')).toEqual(['queue-depth,kv-utilization']);
    expect(fish('twinyard trace stats a-t')).toEqual(['a-trace.csv']);
    expect(fish('twinyard get -n lab eng')).toEqual(['engines']);
    expect(fish('./twinyard get -n lab endpoints la')).toEqual(['lab']);
    expect(fish('./twinyard keys show apik')).toEqual(['apikeys']);
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

  it('come from the server that the command line names', async () => {
    expect(await names('get endpoints -n lab')).toEqual({ code: 0, stdout: 'chat\nembed\n', stderr: '' });
    expect(asked.at(-1)).toMatch(/lab/);
  });

  it('are none, silently, when it fails or is slow', async () => {
    const nothing = { code: 0, stdout: '', stderr: '' };
    expect(await names('get endpoints -n slow')).toEqual(nothing);
    expect(await names('get endpoints --server http://127.0.0.1:1')).toEqual(nothing);
    expect(await names('get endpoints --server nonsense')).toEqual(nothing);
    expect(await captured('completion names nonsense')).toEqual(nothing);
  });
});
