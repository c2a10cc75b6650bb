import { packageVersion } from '../files/package-path.js';
import { summaryOf } from './commands.js';
import type { CommandLine } from './flags/command-line.js';
import { parseFlags } from './flags/parse-flags.js';
import type { CliIo } from './io.js';

export const VERSION: CommandLine = {
  name: 'version',
  summary: summaryOf('version'),
  about: "The same as 'twinyard --version' and 'twinyard -v'.",
  groups: [{ title: 'Output', flags: {} }],
  examples: ['version'],
};

export async function version(argv: readonly string[], io: CliIo): Promise<number> {
  await parseFlags(VERSION, argv);
  io.stdout.write(`twinyard ${packageVersion()}\n`);
  return 0;
}
