import type { CliIo } from './io.js';
import { runSubcommand, type Subcommand } from './subcommands.js';

/** Every subcommand: a new one is a file and an entry here. */
export const KEYS_COMMANDS: readonly Subcommand[] = [
  {
    name: 'create',
    summary: 'issue an API key and print its secret once',
    load: async () => (await import('./keys/create.js')).create,
  },
  {
    name: 'list',
    summary: 'list API keys',
    load: async () => (await import('./keys/list.js')).list,
  },
  {
    name: 'show',
    summary: 'print an API key, without its secret',
    load: async () => (await import('./keys/show.js')).show,
  },
  {
    name: 'update',
    summary: 'change the settings of an API key; its secret stays',
    load: async () => (await import('./keys/update.js')).update,
  },
  {
    name: 'rotate',
    summary: 'issue a new secret; the current one is accepted for a while',
    load: async () => (await import('./keys/rotate.js')).rotate,
  },
  {
    name: 'revoke',
    summary: 'revoke an API key',
    load: async () => (await import('./keys/revoke.js')).revoke,
  },
  {
    name: 'usage',
    summary: 'report usage by key, model, endpoint, day and outcome',
    load: async () => (await import('./keys/usage.js')).usage,
  },
];

export async function keys(argv: readonly string[], io: CliIo): Promise<number> {
  return runSubcommand('keys', '[flags]', KEYS_COMMANDS, argv, io);
}

/** The summary that the help of a subcommand starts with. */
export function keysSummaryOf(name: string): string {
  return KEYS_COMMANDS.find((command) => command.name === name)!.summary;
}
