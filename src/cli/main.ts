#!/usr/bin/env node
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { main } from './program.js';

/** The only file that ends the process. */

// A reader that has seen enough (`| head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await main(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  now: () => performance.now(),
  beforeSignal(cleanUp) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        cleanUp();
        process.exit(128 + constants.signals[signal]);
      });
    }
  },
});
