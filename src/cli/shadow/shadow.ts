import type { CliIo } from '../io.js';
import { runSubcommand, type Subcommand } from '../subcommands.js';

/** Every subcommand: a new one is a file and an entry here. */
export const SHADOW_COMMANDS: readonly Subcommand[] = [
  {
    name: 'add',
    summary: 'let another policy decide about the requests of an endpoint, without placing any',
    load: async () => (await import('./add.js')).addShadow,
  },
  {
    name: 'list',
    summary: 'list shadow policies and how often they agree with the policy that serves',
    load: async () => (await import('./list.js')).listShadows,
  },
  {
    name: 'remove',
    summary: 'remove a shadow policy that was added',
    load: async () => (await import('./remove.js')).removeShadow,
  },
];

export async function shadow(argv: readonly string[], io: CliIo): Promise<number> {
  return runSubcommand('shadow', '[flags]', SHADOW_COMMANDS, argv, io);
}

/** The summary that the help of a subcommand starts with. */
export function shadowSummaryOf(name: string): string {
  return SHADOW_COMMANDS.find((command) => command.name === name)!.summary;
}
