// Builds the console into dist/console, with compressed copies of each file beside it. '--if-stale' does nothing when it is newer
// than its sources. Several processes may run it at once: each builds beside the target and moves the result there.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'console');
const target = join(root, 'dist', 'console');

function isStale() {
  const built = statSync(join(target, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const inputs = readdirSync(source, { recursive: true, encoding: 'utf8' }).map((name) => join(source, name));
  return [...inputs, fileURLToPath(import.meta.url)].some((path) => statSync(path).mtimeMs > built);
}

function compress(folder) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(js|css|html|svg)$/.test(name)) continue;
    const path = join(folder, name);
    const bytes = readFileSync(path);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
  }
}

async function build() {
  const { build } = await import('vite');
  const fresh = `${target}.${process.pid}`;
  await build({
    configFile: join(source, 'vite.config.mjs'),
    logLevel: 'warn',
    build: { outDir: fresh },
  });
  compress(fresh);
  if (existsSync(target)) renameSync(target, `${fresh}.old`);
  renameSync(fresh, target);
  rmSync(`${fresh}.old`, { recursive: true, force: true });
}

if (!process.argv.includes('--if-stale') || isStale()) await build();
