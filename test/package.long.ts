import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLI } from './support/cli.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

let folder: string;
let tarball: string;
let twinyard: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-package-'));
  mkdirSync(join(folder, 'elsewhere'));
  // The bundle is fresh already: no need to build it again.
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  tarball = join(folder, execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' }).trim());
  const install = [
    'install',
    '-g',
    '--prefix',
    join(folder, 'prefix'),
    '--prefer-offline',
    '--fetch-retries',
    '0',
    tarball,
  ];
  if (spawnSync('npm', install, { cwd: folder, stdio: 'ignore' }).status !== 0) installOffline();
  twinyard = join(folder, 'prefix', 'bin', 'twinyard');
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true }));

/** What a global install makes, with the dependencies of this repository: for machines that reach no registry. */
function installOffline(): void {
  const modules = join(folder, 'prefix', 'lib', 'node_modules');
  rmSync(join(folder, 'prefix'), { recursive: true, force: true });
  mkdirSync(join(modules, 'twinyard'), { recursive: true });
  mkdirSync(join(folder, 'prefix', 'bin'));
  execFileSync('tar', ['xzf', tarball, '--strip-components', '1', '-C', join(modules, 'twinyard')]);
  symlinkSync(join(ROOT, 'node_modules'), join(modules, 'twinyard', 'node_modules'));
  symlinkSync(join(modules, 'twinyard', 'dist', 'bundle', 'main.js'), join(folder, 'prefix', 'bin', 'twinyard'));
}

/** Runs the installed program in a folder that has nothing to do with it. */
function run(...args: string[]) {
  const env = { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') };
  return spawnSync(twinyard, args, { cwd: join(folder, 'elsewhere'), encoding: 'utf8', env });
}

describe('the package', () => {
  test('holds the bundle, data, pages and examples, and nothing of the build or of tests', () => {
    const files = execFileSync('tar', ['tzf', tarball], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((path) => path.replace(/^package\//, ''));
    const tops = new Set(
      files.map((path) =>
        path
          .split('/')
          .slice(0, path.startsWith('dist/') ? 2 : 1)
          .join('/'),
      ),
    );
    expect([...tops].sort()).toEqual(
      [
        'LICENSE',
        'README.md',
        'catalogue',
        'deploy',
        'dist/bundle',
        'dist/console',
        'docs',
        'examples',
        'package.json',
        'schemas',
      ].sort(),
    );
    expect(
      files.filter((path) => /\.d\.ts$|\.tsbuildinfo$|\.test\.|\.fixture\.|\.contract\.|node_modules/.test(path)),
    ).toEqual([]);
    // The compiled modules alone are more than three thousand files.
    expect(files.length).toBeLessThan(2000);
  });
});

describe('an installed package, from any folder', () => {
  test('prints its version and a completion script', () => {
    expect(run('--version').stdout).toBe(execFileSync(process.execPath, [CLI, 'version'], { encoding: 'utf8' }));
    expect(run('completion', 'bash').stdout).toContain('complete -F _twinyard twinyard');
  });

  test('simulates the same bytes as the repository', () => {
    const args = ['run', '--model', 'qwen/qwen3-14b', '--num-instances', '3', '--num-requests', '50', '--rate', '20'];
    const { status, stdout } = run(...args);
    expect(status).toBe(0);
    expect(stdout).toBe(execFileSync(process.execPath, [CLI, ...args], { encoding: 'utf8' }));
  });

  test('compares on worker threads, and keeps results', () => {
    const args = [
      'compare',
      '--model',
      'qwen/qwen3-14b',
      '--num-instances',
      '2',
      '--rate',
      '20',
      '--num-requests',
      '50',
    ];
    const more = ['--routing-policy', 'round-robin,least-loaded', '--seeds', '3', '--workers', '2'];
    const first = run(...args, ...more);
    expect({ status: first.status, stderr: first.stderr }).toEqual({ status: 0, stderr: '' });
    expect(run(...args, ...more).stdout).toBe(first.stdout);
  });

  test('names sources in stack traces', () => {
    const code = 'process.stdout.write = () => { throw new TypeError("broken") };';
    const broken = `data:text/javascript,${encodeURIComponent(code)}`;
    const env = { ...process.env, TWINYARD_DEBUG: '1', NODE_OPTIONS: `--import=${broken}` };
    const { stderr } = spawnSync(twinyard, ['version'], { cwd: folder, encoding: 'utf8', env });
    expect(stderr).toMatch(/at version \(src\/cli\/version\.ts:\d+:\d+\)/);
  });

  test('starts a control plane that runs an emulated engine', async () => {
    const cwd = join(folder, 'elsewhere');
    const child = spawn(twinyard, ['serve', '--port', '0', '--admin-port', '0'], {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(child, 'exit');
    try {
      for await (const line of createInterface({ input: child.stderr })) if (line.includes('admin on')) break;
      child.stderr.resume();
      const example = join(ROOT, 'examples', 'endpoints', 'emulated.yaml');
      const applied = run('apply', '-f', example, '--wait', '--timeout', '60s');
      expect({ status: applied.status, stderr: applied.stderr }).toEqual({ status: 0, stderr: '' });
      const kinds = applied.stdout.match(/Endpoint default\/([\w-]+) is/);
      expect(kinds).not.toBeNull();
      expect(run('delete', 'endpoint', kinds![1]!, '--wait').status).toBe(0);
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  });

  test('says how to install what tracing needs, where it is not installed', () => {
    const config = join(folder, 'tracing.yaml');
    writeFileSync(config, 'replicas: [{ url: "http://127.0.0.1:9" }]\ntracing: { endpoint: "http://127.0.0.1:9" }\n');
    const isInstalled = spawnSync(process.execPath, ['-e', "require.resolve('@opentelemetry/api')"], {
      cwd: join(folder, 'prefix', 'lib', 'node_modules', 'twinyard'),
    });
    if (isInstalled.status === 0) return;
    const { status, stderr } = run('serve', '-c', config, '--port', '0', '--admin-port', '0');
    expect(status).toBe(2);
    expect(stderr).toMatch(/^twinyard: tracing: .* is not installed; run 'npm install -g @opentelemetry/);
  });
});
