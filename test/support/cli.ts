import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The program as it is shipped, for tests that start it as a process. */
export const CLI = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));

// Tests never run against old code.
execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/bundle.mjs', import.meta.url)), '--if-stale']);
