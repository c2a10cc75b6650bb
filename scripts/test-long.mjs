// All tests with coverage, the drills that take long (test/**/*.long.ts), and the fuzzers with many cases.
import './ensure.mjs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const env = { TWINYARD_TEST_LONG: '1', TWINYARD_FUZZ_CASES: '100000', ...process.env };
const { status } = spawnSync(process.execPath, [vitest, 'run', '--coverage', ...process.argv.slice(2)], {
  cwd: root,
  env,
  stdio: 'inherit',
});
process.exit(status ?? 1);
