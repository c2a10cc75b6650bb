import type { CliIo } from './io.js';
import { runSubcommand, type Subcommand } from './subcommands.js';

/** Every subcommand: a new one is a file and an entry here. */
export const CONTEXT_COMMANDS: readonly Subcommand[] = [
  {
    name: 'set',
    summary: 'create or change a context: a server, its token and a default workspace',
    load: async () => (await import('./context/set.js')).setContext,
  },
  {
    name: 'use',
    summary: 'choose the context that commands use',
    load: async () => (await import('./context/use.js')).useContext,
  },
  {
    name: 'list',
    summary: 'list contexts',
    load: async () => (await import('./context/list.js')).listContexts,
  },
  {
    name: 'show',
    summary: 'print a context, without its token',
    load: async () => (await import('./context/show.js')).showContext,
  },
  {
    name: 'delete',
    summary: 'delete a context and its token',
    load: async () => (await import('./context/delete.js')).deleteContext,
  },
];

export async function context(argv: readonly string[], io: CliIo): Promise<number> {
  return runSubcommand('context', '[flags]', CONTEXT_COMMANDS, argv, io);
}

/** The summary that the help of a subcommand starts with. */
export function contextSummaryOf(name: string): string {
  return CONTEXT_COMMANDS.find((command) => command.name === name)!.summary;
}
