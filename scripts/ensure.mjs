// Makes a fresh clone runnable: installs what is missing and builds what is out of date. Uses nothing but Node.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

function run(command, args) {
  const done = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (done.status !== 0) {
    process.stderr.write(`twinyard: '${command} ${args.join(' ')}' failed; fix what it says above and try again\n`);
    process.exit(1);
  }
}

function installed() {
  const stamp = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(stamp)) return false;
  if (statSync(stamp).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs) return true;
  const want = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const have = JSON.parse(readFileSync(stamp, 'utf8')).packages;
  return Object.entries(want).every(([path, p]) => path === '' || p.optional || have[path]?.version === p.version);
}

if (!installed()) run(npm, ['ci']);
run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b']);
run(process.execPath, [join(root, 'scripts', 'bundle.mjs'), '--if-stale']);
run(process.execPath, [join(root, 'scripts', 'console.mjs'), '--if-stale']);
