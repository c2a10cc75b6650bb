// Bundles the program into dist/bundle: what the package ships, and what tests and benchmarks start. A command loads a few large
// files instead of hundreds of small ones; commands still load only what they need. '--if-stale' does nothing when it is newer
// than the sources. Several processes may run it at once.
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const src = join(root, 'src');
const target = join(root, 'dist', 'bundle');
const lock = join(root, 'dist', 'bundle.lock');
/** A lock that is older was left behind. */
const LOCK_MS = 60_000;

function isStale() {
  const built = statSync(join(target, 'main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const inputs = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(test|fixture|contract)\.ts$/.test(name))
    .map((name) => join(src, name));
  // Folders too: a file that was deleted leaves its mark there.
  const folders = readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return [...inputs, ...folders, fileURLToPath(import.meta.url)].some((path) => statSync(path).mtimeMs > built);
}

async function withLock(work) {
  mkdirSync(dirname(lock), { recursive: true });
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > LOCK_MS) rmSync(lock, { recursive: true, force: true });
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  try {
    await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** All that `run` loads, static imports of what it imports later included: one file, because all of it is always needed. */
function modulesOfRun(graph) {
  const seen = new Set();
  const visit = (id) => {
    const info = graph.getModuleInfo(id);
    if (seen.has(id) || info === null || info.isExternal) return;
    seen.add(id);
    for (const imported of info.importedIds) visit(imported);
  };
  const main = join(src, 'cli', 'main.ts');
  const run = join(src, 'cli', 'simulate', 'run.ts');
  for (const id of [main, run, ...graph.getModuleInfo(run).dynamicallyImportedIds]) visit(id);
  // It is the program only where it is the file that was started.
  seen.delete(main);
  return seen;
}

async function bundle() {
  const { rolldown } = await import('rolldown');
  let ofRun = new Set();
  const graph = await rolldown({
    // Workers are found beside the file that starts them.
    input: {
      main: join(src, 'cli', 'main.ts'),
      worker: join(src, 'experiment', 'runs', 'worker.ts'),
      'lab-worker': join(src, 'cli', 'lab', 'lab-worker.ts'),
      'whatif-worker': join(src, 'twin', 'whatif', 'whatif-worker.ts'),
      'twin-worker': join(src, 'twin', 'jobs', 'twin-worker.ts'),
      'fit-worker': join(src, 'twin', 'profiles', 'fit', 'fit-worker.ts'),
    },
    platform: 'node',
    logLevel: 'silent',
    external: (id) => !id.startsWith('.') && !id.startsWith('/') && !/^[A-Za-z]:[\\/]/.test(id),
    resolve: { extensionAlias: { '.js': ['.ts'] } },
    transform: { target: 'node20' },
    plugins: [
      {
        name: 'modules-of-run',
        buildEnd() {
          ofRun = modulesOfRun(this);
        },
      },
    ],
  });
  const fresh = `${target}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  await graph.write({
    dir: fresh,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    sourcemap: true,
    sourcemapExcludeSources: true,
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: 'run', test: (id) => ofRun.has(id) }] },
  });
  await graph.close();
  chmodSync(join(fresh, 'main.js'), 0o755);
  if (existsSync(target)) renameSync(target, `${fresh}.old`);
  renameSync(fresh, target);
  rmSync(`${fresh}.old`, { recursive: true, force: true });
}

const onlyIfStale = process.argv.includes('--if-stale');
if (!onlyIfStale || isStale()) {
  await withLock(async () => {
    if (!onlyIfStale || isStale()) await bundle();
  });
}
