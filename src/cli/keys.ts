import type { CliIo } from './io.js';
import { runSubcommand, type Subcommand } from './subcommands.js';

/** Everything that can be done with keys. */
export const KEYS_COMMANDS: readonly Subcommand[] = [
  {
    name: 'create',
    summary: 'make a key and show its text, this once',
    load: async () => (await import('./keys/create.js')).create,
  },
  {
    name: 'list',
    summary: 'list all keys',
    load: async () => (await import('./keys/list.js')).list,
  },
  {
    name: 'show',
    summary: 'tell everything about a key but its text',
    load: async () => (await import('./keys/show.js')).show,
  },
  {
    name: 'update',
    summary: 'change what a key may do; its text stays',
    load: async () => (await import('./keys/update.js')).update,
  },
  {
    name: 'rotate',
    summary: 'give a key a new text; the present one is accepted a while longer',
    load: async () => (await import('./keys/rotate.js')).rotate,
  },
  {
    name: 'revoke',
    summary: 'end a key for good',
    load: async () => (await import('./keys/revoke.js')).revoke,
  },
  {
    name: 'usage',
    summary: 'tell what was used, by key, model, endpoint, day and outcome',
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
