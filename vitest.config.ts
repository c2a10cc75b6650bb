import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    testTimeout: 60_000,
    setupFiles: ['./test/support/fixed-seeds.ts'],
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
