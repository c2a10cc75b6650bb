import { readFileSync } from 'node:fs';
import { unexpectedArgument } from './errors.js';
import type { CliIo } from './io.js';

/** The same depth from `src/cli` and from the compiled `dist/cli`. */
const PACKAGE = new URL('../../package.json', import.meta.url);

function packageVersion(): string {
  return (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }).version;
}

export async function version(argv: readonly string[], io: CliIo): Promise<number> {
  if (argv[0] === '--help' || argv[0] === '-h') {
    io.stdout.write('Usage: twinyard version\n\nprint the version\n');
    return 0;
  }
  if (argv[0] !== undefined) throw unexpectedArgument(argv[0], 'version');
  io.stdout.write(`twinyard ${packageVersion()}\n`);
  return 0;
}
