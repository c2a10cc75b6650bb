import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.js';

/** Tests that replace modules need a module cache of their own; all others share one, which halves the time of a run. */
const isolated = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((name) => `src/${name}`)
  .filter((name) => name.endsWith('.test.ts') && /vi\.(?:mock|doMock|resetModules)\(/.test(readFileSync(name, 'utf8')));

/** A test that waits in vain ends one day; no machine is so slow that another test takes this long. */
const PATIENCE_MS = 300_000;

const shared = {
  testTimeout: PATIENCE_MS,
  hookTimeout: PATIENCE_MS,
  setupFiles: ['./test/support/fixed-seeds.ts'],
};

/** `npm run test:long` adds the drills that take long, and measures coverage. */
const isLong = process.env.TWINYARD_TEST_LONG === '1';
/** `npm run test:kube` adds the drills against a real API server. */
const isKube = process.env.TWINYARD_TEST_KUBE === '1';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'units',
          isolate: false,
          include: ['src/**/*.test.ts', 'console/src/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: isolated,
        },
      },
      {
        test: {
          ...shared,
          name: 'system',
          globalSetup: './test/support/fresh-bundle.ts',
          include: [
            'test/**/*.test.ts',
            ...(isLong ? ['test/**/*.long.ts'] : []),
            ...(isKube ? ['test/**/*.kube.ts'] : []),
            ...isolated,
          ],
        },
      },
      {
        test: {
          ...shared,
          name: 'browser',
          globalSetup: './test/support/fresh-bundle.ts',
          include: ['test/browser/*.browser.ts'],
        },
      },
    ],
    // One more than cores: a file often waits for a process, a disk or a time-out.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/support/closing-line.ts'],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts', 'src/**/*.contract.ts', 'src/**/*.fixture.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { 'src/policy/**': { lines: 100 } },
    },
  },
});
