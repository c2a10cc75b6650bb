import type { CliIo } from '../io.js';
import { runSubcommand, type Subcommand } from '../subcommands.js';

/** Everything that can be done with a trace: a new one is a file and a line here. */
export const TRACE_COMMANDS: readonly Subcommand[] = [
  {
    name: 'stats',
    summary: 'tell what a trace is like: rates, lengths, chats, reusable prefixes',
    load: async () => (await import('./stats.js')).stats,
  },
  {
    name: 'cap',
    summary: 'keep the first turns of every chat',
    load: async () => (await import('./cap.js')).cap,
  },
  {
    name: 'slice',
    summary: 'keep a stretch of time, the first requests or the first chats',
    load: async () => (await import('./slice.js')).slice,
  },
  {
    name: 'scale',
    summary: 'make chats and requests start closer together or further apart',
    load: async () => (await import('./scale.js')).scale,
  },
  {
    name: 'anonymise',
    summary: 'drop all names and ids, keep lengths, shared blocks and timing',
    load: async () => (await import('./anonymise.js')).anonymise,
  },
  {
    name: 'fit',
    summary: 'find the workload specification whose traffic is like a trace, and compare the two',
    load: async () => (await import('./fit.js')).fit,
  },
];

export async function trace(argv: readonly string[], io: CliIo): Promise<number> {
  return runSubcommand('trace', 'FILE [flags]', TRACE_COMMANDS, argv, io);
}

/** The summary that the help of a subcommand starts with. */
export function traceSummaryOf(name: string): string {
  return TRACE_COMMANDS.find((command) => command.name === name)!.summary;
}
