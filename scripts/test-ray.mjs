// The runner contract and drills against a real Ray, which is installed once into a virtual environment in the user's cache folder.
// '--record' also writes the exchanges that 'npm test' replays. Further arguments go to vitest.
import './ensure.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '2.60';
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'twinyard-ray');
const folder = join(cache, `venv-${VERSION}`);
const ray = join(folder, 'bin', 'ray');

/** Runs a program to its end; ends this one when it fails. */
function run(program, args, env = process.env) {
  const { status } = spawnSync(program, args, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(ray)) {
  console.log(`installing ray[default] ${VERSION} into ${folder}`);
  mkdirSync(cache, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  run('python3', ['-m', 'venv', folder]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `ray[default]==${VERSION}.*`];
  run(join(folder, 'bin', 'python3'), pip);
}

const args = process.argv.slice(2).filter((arg) => arg !== '--record');
const env = {
  ...process.env,
  TWINYARD_TEST_RAY: ray,
  ...(process.argv.includes('--record') ? { TWINYARD_RECORD_RAY: '1' } : {}),
};
const files = ['test/ray-runner.test.ts', 'test/ray-drill.test.ts'];
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
run(process.execPath, [vitest, 'run', ...files, '--coverage.enabled=false', '--maxWorkers=1', ...args], env);
