#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { mapStackTraces } from '../files/map-stack-traces.js';
import { stdoutFailure } from './output/output-files.js';
import { main } from './program.js';
import { limitCompiler } from './tune-v8.js';

export { main };

/** The only file that ends the process, and only when it is the entry point: tests import it and call `main`. */
async function start(): Promise<void> {
  mapStackTraces();
  limitCompiler(0);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(stdoutFailure(error, process.stderr));
  });
  process.stderr.on('error', () => {});
  process.exitCode = await main(process.argv.slice(2), {
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: () => process.stdin,
    env: process.env,
    now: () => performance.now(),
    beforeSignal(cleanUp) {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.once(signal, () => {
          void Promise.resolve(cleanUp()).finally(() => process.exit(128 + constants.signals[signal]));
        });
      }
    },
    untilStopped: () =>
      new Promise((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
      }),
    self: [process.execPath, fileURLToPath(import.meta.url)],
    onHangUp: (reload) => void process.on('SIGHUP', reload),
  });
}

/** Installed commands are links to this file: both sides are compared as the file they lead to. */
function isStarted(entry: string | undefined): boolean {
  if (entry === undefined) return false;
  try {
    return realpathSync(entry) === realpathSync(fileURLToPath(import.meta.url));
  } catch {
    return false;
  }
}

if (isStarted(process.argv[1])) await start();
