// The runner contract and the drills against a real API server. With --record the exchanges that `npm test` replays are made again.
import './ensure.mjs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const isRecording = process.argv.includes('--record');
const more = process.argv.slice(2).filter((one) => one !== '--record');

if (!process.env.TWINYARD_TEST_KUBECONFIG) {
  console.error(
    'TWINYARD_TEST_KUBECONFIG is not set: set it to a kubeconfig whose user may create namespaces, nodes and Roles.',
  );
  console.error('No cluster? An API server with kwok is enough: CONTRIBUTING.md#kubernetes says how.');
  process.exit(2);
}
const files = isRecording
  ? ['test/kube-runner.test.ts', '-t', 'a runner|a Kubernetes runner']
  : [
      'test/kube-cluster.test.ts',
      'test/kube-runner.test.ts',
      'test/kube-leader.test.ts',
      'test/deploy-kube.test.ts',
      'test/kube/',
    ];
// One file after another: drills stop the API server and measure memory.
const args = ['run', ...files, '--no-file-parallelism', '--coverage.enabled=false', ...more];
const env = { ...process.env, TWINYARD_TEST_KUBE: '1', ...(isRecording ? { TWINYARD_RECORD: '1' } : {}) };
const { status } = spawnSync(process.execPath, [vitest, ...args], { cwd: root, env, stdio: 'inherit' });
process.exit(status ?? 1);
