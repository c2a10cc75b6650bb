import type { CliIo } from '../io.js';
import { runSubcommand, type Subcommand } from '../subcommands.js';

/** Every subcommand: a new one is a file and an entry here. */
export const TRACE_COMMANDS: readonly Subcommand[] = [
  {
    name: 'stats',
    summary: 'print statistics of a trace: rates, lengths, sessions, reusable prefixes',
    load: async () => (await import('./stats.js')).stats,
  },
  {
    name: 'cap',
    summary: 'keep the first turns of every session',
    load: async () => (await import('./cap.js')).cap,
  },
  {
    name: 'slice',
    summary: 'keep a span of time, the first requests or the first sessions',
    load: async () => (await import('./slice.js')).slice,
  },
  {
    name: 'scale',
    summary: 'change how often sessions and requests start',
    load: async () => (await import('./scale.js')).scale,
  },
  {
    name: 'anonymise',
    summary: 'remove all names and ids; keep lengths, shared blocks and timing',
    load: async () => (await import('./anonymise.js')).anonymise,
  },
  {
    name: 'fit',
    summary: 'fit a workload specification to a trace and compare the two',
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
