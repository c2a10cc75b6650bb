import type { CommandAction } from '../commands.js';
import { summaryOf } from '../commands.js';
import { noSubcommand, unknownCommand } from '../errors.js';
import type { CliIo } from '../io.js';

interface Subcommand {
  name: string;
  summary: string;
  load: () => Promise<CommandAction>;
}

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
  const [name, ...rest] = argv;
  const known = TRACE_COMMANDS.map((command) => `trace ${command.name}`);
  if (name === undefined) throw noSubcommand('trace', known);
  if (name === '--help' || name === '-h') {
    io.stdout.write(helpText());
    return 0;
  }
  const command = TRACE_COMMANDS.find((entry) => entry.name === name);
  if (command === undefined) throw unknownCommand(`trace ${name}`, known);
  return (await command.load())(rest, io);
}

/** The summary that the help of a subcommand starts with. */
export function traceSummaryOf(name: string): string {
  return TRACE_COMMANDS.find((command) => command.name === name)!.summary;
}

function helpText(): string {
  const width = Math.max(...TRACE_COMMANDS.map(({ name }) => name.length));
  const list = TRACE_COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`).join('');
  const usage = `Usage: twinyard trace <command> FILE [flags]\n\n${summaryOf('trace')}`;
  return `${usage}\n\nCommands:\n${list}\n'twinyard trace <command> --help' lists the flags of a command.\n`;
}
