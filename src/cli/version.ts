import { readFileSync } from 'node:fs';
import { summaryOf } from './commands.js';
import type { CommandLine } from './flags/command-line.js';
import { parseFlags } from './flags/parse-flags.js';
import type { CliIo } from './io.js';

/** The same depth from `src/cli` and from the compiled `dist/cli`. */
const PACKAGE = new URL('../../package.json', import.meta.url);

export const VERSION: CommandLine = {
  name: 'version',
  summary: summaryOf('version'),
  about: "The same as 'twinyard --version' and 'twinyard -v'.",
  groups: [{ title: 'Output', flags: {} }],
  examples: ['version'],
};

export async function version(argv: readonly string[], io: CliIo): Promise<number> {
  await parseFlags(VERSION, argv);
  const { version: text } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string };
  io.stdout.write(`twinyard ${text}\n`);
  return 0;
}
