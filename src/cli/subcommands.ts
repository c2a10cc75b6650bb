import { type CommandAction, summaryOf } from './commands.js';
import { noSubcommand, unknownCommand } from './errors.js';
import type { CliIo } from './io.js';

/** What a command can do: a new one is a file and a line in the command's table. */
export interface Subcommand {
  readonly name: string;
  readonly summary: string;
  /** Loaded when it is called. */
  readonly load: () => Promise<CommandAction>;
}

/** Runs the subcommand that the first argument names, or lists them. @param usage what follows a subcommand's name */
export async function runSubcommand(
  parent: string,
  usage: string,
  table: readonly Subcommand[],
  argv: readonly string[],
  io: CliIo,
): Promise<number> {
  const [name, ...rest] = argv;
  const known = table.map((entry) => `${parent} ${entry.name}`);
  if (name === undefined) throw noSubcommand(parent, known);
  if (name === '--help' || name === '-h') {
    io.stdout.write(helpText(parent, usage, table));
    return 0;
  }
  const command = table.find((entry) => entry.name === name);
  if (command === undefined) throw unknownCommand(`${parent} ${name}`, known);
  return (await command.load())(rest, io);
}

function helpText(parent: string, usage: string, table: readonly Subcommand[]): string {
  const width = Math.max(...table.map(({ name }) => name.length));
  const list = table.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`).join('');
  const head = `Usage: twinyard ${parent} <command> ${usage}\n\n${summaryOf(parent)}`;
  return `${head}\n\nCommands:\n${list}\n'twinyard ${parent} <command> --help' lists the flags of a command.\n`;
}
