// The runner contract, the drills and discovery against a real Ray, which is installed once into a virtual environment in the user's
// cache folder. '--record' also writes the exchanges that 'npm test' replays. Further arguments go to vitest.
import './ensure.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '2.60';
const PACKAGE = `ray[default,serve]==${VERSION}.*`;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'twinyard-ray');
const folder = join(cache, `venv-${VERSION}`);
const ray = join(folder, 'bin', 'ray');
/** Written last, with what was installed: an interrupted installation is repeated. */
const stamp = join(folder, 'twinyard-installed');

function fail(message) {
  console.error(`test:ray: ${message}`);
  process.exit(2);
}

const run = (program, args, options = {}) => spawnSync(program, args, { cwd: root, stdio: 'inherit', ...options });

function isInstalled() {
  return existsSync(ray) && existsSync(stamp) && readFileSync(stamp, 'utf8') === PACKAGE;
}

function install() {
  const python = run('python3', ['-c', 'import ensurepip, venv'], { stdio: ['ignore', 'ignore', 'pipe'] });
  if (python.error)
    fail('python3 is not on the PATH: Ray is a Python package; install Python 3.10 or later with its venv module');
  if (python.status !== 0)
    fail('python3 has no venv module: install it (on Debian and Ubuntu: apt install python3-venv)');
  console.log(`test:ray: installing ${PACKAGE} into ${folder} (about 300 MB, once)`);
  mkdirSync(cache, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  if (run('python3', ['-m', 'venv', folder]).status !== 0) fail(`no virtual environment in ${folder}: see above`);
  const quiet = process.stdout.isTTY ? [] : ['--quiet'];
  const pip = ['-m', 'pip', 'install', ...quiet, '--disable-pip-version-check', PACKAGE];
  if (run(join(folder, 'bin', 'python3'), pip).status !== 0) {
    fail(
      'pip could not install Ray: it needs PyPI, or an index in PIP_INDEX_URL, and a Python that Ray supports; see above',
    );
  }
  writeFileSync(stamp, PACKAGE);
}

if (process.platform !== 'linux') fail('Ray nodes of Twinyard run on Linux only');
if (!isInstalled()) install();
console.log(
  `test:ray: Ray ${VERSION} in ${folder}; tests start and end clusters of their own on loopback, for about ten minutes`,
);

const more = process.argv.slice(2).filter((arg) => arg !== '--record');
const env = {
  ...process.env,
  TWINYARD_TEST_RAY: ray,
  ...(process.argv.includes('--record') ? { TWINYARD_RECORD_RAY: '1' } : {}),
};
const files = ['runner', 'serve', 'leader', 'drill'].map((name) => `test/ray-${name}.test.ts`);
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const args = [vitest, 'run', ...files, '--coverage.enabled=false', '--maxWorkers=1', '--reporter=verbose', ...more];
const { status } = run(process.execPath, args, { env });
process.exit(status ?? 1);
