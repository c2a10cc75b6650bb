import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Before the tests of a project: those that start the program never run against old code. */
export default function bundle(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/bundle.mjs', import.meta.url)), '--if-stale']);
}
