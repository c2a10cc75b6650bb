import type { CliIo } from './io.js';
import { runSubcommand, type Subcommand } from './subcommands.js';

/** Every subcommand: a new one is a file and an entry here. */
export const PROFILES_COMMANDS: readonly Subcommand[] = [
  {
    name: 'list',
    summary: 'list the latency profiles of endpoints and engines, with score, age and drift',
    load: async () => (await import('./profiles/list.js')).profilesList,
  },
  {
    name: 'show',
    summary: 'print how well a latency profile predicts and what it assumes',
    load: async () => (await import('./profiles/show.js')).profilesShow,
  },
  {
    name: 'pin',
    summary: 'keep a latency profile as it is, or use the one of a file',
    load: async () => (await import('./profiles/pin.js')).profilesPin,
  },
  {
    name: 'export',
    summary: 'write a latency profile to a file for run, whatif and calibrate',
    load: async () => (await import('./profiles/export.js')).profilesExport,
  },
];

export async function profiles(argv: readonly string[], io: CliIo): Promise<number> {
  return runSubcommand('profiles', 'ENDPOINT [ENGINE] [flags]', PROFILES_COMMANDS, argv, io);
}

/** The summary that the help of a subcommand starts with. */
export function profilesSummaryOf(name: string): string {
  return PROFILES_COMMANDS.find((command) => command.name === name)!.summary;
}
