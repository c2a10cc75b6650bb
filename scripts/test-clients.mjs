// Python's clients against a gateway in front of an emulated engine. Installs them into a folder that is removed afterwards.
import './ensure.mjs';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODEL = 'qwen/qwen3-14b';
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const clients = join(root, 'test', 'clients');
const folder = mkdtempSync(join(tmpdir(), 'twinyard-clients-'));
const python = join(folder, 'venv', 'bin', 'python');
const children = [];

/** Runs a program to its end; throws when it fails. */
function run(program, ...args) {
  const { status } = spawnSync(program, args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`);
}

/** Starts a command of twinyard; resolves to the first address that it prints. */
async function start(...args) {
  const options = { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] };
  const child = spawn(process.execPath, [join(root, 'dist', 'bundle', 'main.js'), ...args], options);
  children.push(child);
  let text = '';
  const address = () => /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece) => {
      text += piece;
      if (address() !== undefined) child.emit('address');
    });
  }
  child.on('exit', () => child.emit('address'));
  await once(child, 'address');
  if (address() === undefined) throw new Error(`twinyard ${args[0]} did not start: ${text}`);
  return address();
}

try {
  run('python3', '-m', 'venv', join(folder, 'venv'));
  run(python, '-m', 'pip', 'install', '--quiet', '--requirement', join(clients, 'requirements.txt'));
  const engine = await start('engine', '--model', MODEL, '--port', '0');
  const gateway = await start('serve', '--replica', engine, '--port', '0', '--admin-port', '0');
  for (const name of ['openai', 'langchain', 'litellm']) run(python, join(clients, 'clients.py'), name, gateway, MODEL);
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
